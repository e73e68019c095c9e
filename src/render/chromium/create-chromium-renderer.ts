import type { Logger } from 'pino';
import { AssetClient } from '../../infra/egress/asset-client.ts';
import type { EgressRecord } from '../../infra/egress/egress-record.ts';
import type { ListenerOpener } from '../../infra/egress/proxy-listeners.ts';
import { coresOfMachine } from '../../infra/machine/machine-cores.ts';
import { type MachineMemory, machineMemory } from '../../infra/machine/machine-memory.ts';
import { Cores, rendersOnCores } from '../../infra/scheduling/cores.ts';
import { dedicatedBrowsersFor } from '../../infra/scheduling/dedicated-browsers.ts';
import { PING_MS } from './browsers/browser.ts';
import { BrowserPool } from './browsers/browser-pool.ts';
import type { BrowserMetrics, RecycleLimits } from './browsers/browser-recycling.ts';
import { logStatus, statusOfBrowser } from './browsers/browser-status.ts';
import { DedicatedPages } from './browsers/dedicated-pages.ts';
import { pageMemoryBytes } from './browsers/page-memory.ts';
import { WarmMemory } from './browsers/warm-memory.ts';
import { ChromiumRenderer, type ChromiumRendererDeps, type RenderMetrics } from './chromium-renderer.ts';
import { ContextPool } from './contexts/context-pool.ts';
import { RenderSlots } from './contexts/render-slots.ts';
import { BlockedRenders } from './cpu/blocked-budget.ts';
import type { Finisher } from './job/finish.ts';
import { SheetCache } from './job/print/sheet.ts';
import type { RenderDeps } from './job/render-job.ts';
import type { DocumentHost } from './page/document-host.ts';
import { findBrowser } from './process/find-browser.ts';
import { dictionariesOf } from './process/hyphen-data.ts';
import type { LaunchOptions } from './process/launch.ts';
import { reasonAgainstSandbox, SandboxMissing, type SandboxPolicy } from './process/sandbox-check.ts';
import { sweepUserData } from './process/user-data.ts';

/** `account`: a kept context per account; `job`: a fresh context per job; `browser`: a fresh process tree per job. */
type Isolation = 'account' | 'job' | 'browser';

type ChromiumMetrics = BrowserMetrics & RenderMetrics;

export interface ChromiumRendererOptions {
  /** Default `preferred`. */
  readonly sandbox?: SandboxPolicy;
  /** Renders that run at a time. */
  readonly slots: number;
  /** Renders that compute at a time. Default: half as many again as there are cores. */
  readonly cores?: number;
  /** Renders that may run in addition to the slots at times. Default 0. */
  readonly spareSlots?: number;
  /** Called with how many renders wait for something other than a core (network, a delay), when it changes. */
  readonly onBlocked?: (renders: number) => void;
  readonly isolation: Isolation;
  /** Default: see findBrowser. */
  readonly browserPath?: string | undefined;
  /** The language of documents that are given none. BCP 47. Default DEFAULT_LOCALE. */
  readonly locale?: string | undefined;
  /** The egress proxy for all traffic. Without it there is no network at all. */
  readonly proxyUrl?: string | undefined;
  readonly egress?: (EgressRecord & ListenerOpener) | undefined;
  /** Serves the document at DOCUMENT_ORIGIN to the proxy; without it documents are sent in messages. */
  readonly documents?: DocumentHost | undefined;
  readonly finisher: Finisher;
  readonly logger: Logger;
  readonly metrics?: ChromiumMetrics | undefined;
  /** Folder for the browsers' user data; folders of ended processes are removed from it. */
  readonly userDataRoot: string;
  /** Folder in memory for the files that browser processes share; cleaned likewise. Default: with the user data. */
  readonly sharedMemoryRoot?: string | undefined;
  readonly recycle?: Partial<RecycleLimits>;
  /** Browsers kept, with `account` and `job`. Default: one for every eight renders that compute at a time. */
  readonly browsers?: number;
  /** Dedicated browsers that run at a time: see DedicatedBrowsers. Default: as many as memory and slots allow. */
  readonly dedicatedBrowsers?: number;
  /** Share of all memory that idle contexts may use with `account`: 0 to 1. Default 0.3. */
  readonly warmMemoryShare?: number;
  /** Most idle contexts kept, whatever memory they use. Default 256, since each has a process and its threads. */
  readonly maxIdleContexts?: number;
  /** An account's idle context is closed after this time, in milliseconds. Default 5 min. */
  readonly contextIdleMs?: number;
  /** Contexts of each kind of page that are opened before an account needs them. Default 0. */
  readonly contextsAhead?: number;
  /** Default: as the system reports it. */
  readonly memory?: MachineMemory;
  /** A renderer process above this is killed: its render fails with BROWSER_CRASHED. Default: see pageMemoryBytes. */
  readonly rendererMemoryBytes?: number;
  /** Interval at which browsers are pinged and their memory is measured, in milliseconds. Default 1 s. */
  readonly checkEveryMs?: number;
  /** A browser that does not respond to a ping within this time is replaced, in milliseconds. Default 15 s. */
  readonly pingMs?: number;
}

const CONTEXT_IDLE_MS = 300_000;
const DEFAULT_RECYCLE: RecycleLimits = {
  // A render leaves one or two KiB in the browser process: see docs/performance.md.
  jobs: 20_000,
  ageMs: 6 * 3_600_000,
  memoryBytes: 3 * 1024 ** 3,
  drainJobs: 10_000,
  // By then a context that is not used would have been closed anyway.
  drainMs: CONTEXT_IDLE_MS,
};
const WARM_MEMORY_SHARE = 0.3;
const MAX_IDLE_CONTEXTS = 256;
const COMPUTING_PER_BROWSER = 8;
/** Far more than a busy machine needs, in milliseconds; a browser that takes longer is taken to hang. */
const LAUNCH_MS = 60_000;

/**
 * Puts a renderer together, and starts its browsers.
 *
 * @throws Error when no browser is found or the first one does not start.
 * @throws SandboxMissing when the sandbox is required and not in force.
 */
export async function createChromiumRenderer(options: ChromiumRendererOptions): Promise<ChromiumRenderer> {
  const { logger, userDataRoot, sharedMemoryRoot } = options;
  const swept =
    sweepUserData(userDataRoot) + (sharedMemoryRoot === undefined ? 0 : sweepUserData(sharedMemoryRoot));
  if (swept > 0) logger.info({ folders: swept }, 'removed what dead browsers had left');
  const binary = await findBrowser({
    browserPath: options.browserPath,
    warn: (message) => logger.warn(message),
  });
  const launch = {
    binary,
    userDataRoot,
    sharedMemoryRoot,
    proxyUrl: options.proxyUrl,
    timeoutMs: LAUNCH_MS,
    locale: options.locale,
  };
  const policy = options.sandbox ?? 'preferred';
  const reason = await reasonAgainstSandbox(policy, launch);
  const deps = compose(options, { ...launch, sandbox: reason === undefined });
  const { browsers, contexts } = deps;
  try {
    await browsers.start(contexts);
    const { status, pid } = await statusOfBrowser(browsers);
    const browser = { ...status, ...(reason !== undefined && { reason }) };
    logStatus(logger, browser);
    if (policy === 'required' && browser.sandbox !== 'on')
      throw new SandboxMissing(`a renderer was checked, and its sandbox is ${browser.sandbox}`);
    const hyphenation = dictionariesOf(binary, pid);
    if (hyphenation.languages.length === 0)
      logger.warn(`hyphens: auto breaks no words, as ${hyphenation.folder} is missing: see docs/image.md`);
    const shared = { ...deps.shared, hyphenated: hyphenation.languages };
    const slots = await RenderSlots.launch(options.slots + (options.spareSlots ?? 0));
    return new ChromiumRenderer({ ...deps, shared, browser, slots });
  } catch (error) {
    await browsers.close();
    throw error;
  }
}

/** What is known before a browser has started. */
interface Composed extends Omit<ChromiumRendererDeps, 'browser' | 'shared' | 'slots'> {
  readonly shared: Omit<RenderDeps, 'hyphenated'>;
}

/** Creates the components that share the cores, the browsers and the contexts of a renderer; starts none of them. */
function compose(options: ChromiumRendererOptions, launch: LaunchOptions): Composed {
  const { documents, egress, finisher, isolation, logger, metrics, slots } = options;
  const exclusive = isolation === 'browser';
  const machineCores = Math.min(slots, options.cores ?? coresOfMachine());
  const atATime = exclusive || options.cores !== undefined ? machineCores : rendersOnCores(machineCores);
  const cores = new Cores(Math.min(slots, atATime), undefined, machineCores);
  const blocked = new BlockedRenders(options.onBlocked);
  const machine = options.memory ?? machineMemory();
  const memory = new WarmMemory(options.warmMemoryShare ?? WARM_MEMORY_SHARE, machine);
  const dedicated = new DedicatedPages();
  const browsers = new BrowserPool({
    launch,
    documents,
    egress,
    size: exclusive ? machineCores : (options.browsers ?? Math.ceil(machineCores / COMPUTING_PER_BROWSER)),
    exclusive,
    dedicated: {
      total: options.dedicatedBrowsers ?? dedicatedBrowsersFor(slots, machine.total),
      starting: Math.ceil(machineCores / 2),
      onWaiting: (change) => blocked.count(change),
    },
    recycle: { ...DEFAULT_RECYCLE, ...options.recycle },
    onSuspects: (accounts) => dedicated.suspect(accounts),
    rendererMemoryBytes: options.rendererMemoryBytes ?? pageMemoryBytes(machine.total),
    checkEveryMs: options.checkEveryMs ?? 1000,
    pingMs: options.pingMs ?? PING_MS,
    machine,
    memory,
    metrics,
    logger,
  });
  const contexts = new ContextPool(
    {
      keepWarm: isolation === 'account',
      maxIdle: options.maxIdleContexts ?? MAX_IDLE_CONTEXTS,
      idleMs: options.contextIdleMs ?? CONTEXT_IDLE_MS,
      ahead: exclusive ? 0 : (options.contextsAhead ?? 0),
      cores,
      blocked,
      memory,
      dedicated,
      metrics,
    },
    browsers,
  );
  const assets = options.proxyUrl === undefined ? undefined : new AssetClient(options.proxyUrl);
  const shared = { assets, egress, finisher, sheets: new SheetCache() };
  return { browsers, contexts, shared, logger, metrics };
}
