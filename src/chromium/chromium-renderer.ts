import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { EntranceOpener } from '../egress/entrances.ts';
import { PlatenError } from '../errors/registry.ts';
import { Apart } from './apart.ts';
import { ComputeTurn } from './compute-turn.ts';
import { Cores, coresOfMachine, rendersOnCores } from './cores.ts';
import { examineDocument } from './document/job-document.ts';
import type { EgressRecord } from './document/load-url.ts';
import type { CountPages, Finish } from './finish.ts';
import { JobEnd } from './job-end.ts';
import type { DocumentHost } from './page/document-host.ts';
import type { RenderBrowser } from './pool/browser.ts';
import { placesFor } from './pool/browser-places.ts';
import { BrowserPool, type RestartReason } from './pool/browser-pool.ts';
import type { RecycleLimits } from './pool/browser-recycling.ts';
import { ContextPool } from './pool/context-pool.ts';
import { endHeaviestPage, pageMemoryBytes } from './pool/page-memory.ts';
import { RenderSlots } from './pool/render-slots.ts';
import { WarmMemory } from './pool/warm-memory.ts';
import { WatermarkCache } from './print/watermark.ts';
import { findBrowser } from './process/find-browser.ts';
import { type MachineMemory, machineMemory } from './process/machine-memory.ts';
import { reasonAgainstSandbox, SandboxMissing, type SandboxPolicy, sandboxOf } from './process/sandbox.ts';
import { sweepUserData } from './process/user-data.ts';
import { asRenderError } from './render-error.ts';
import { PhaseTimer, type RenderParts, renderJob } from './render-job.ts';
import type { BrowserStatus, RenderedPdf, Renderer, RendererHealth, RenderRequest } from './renderer.ts';

/** `account`: a kept context per account; `job`: a fresh context per job; `browser`: a fresh process tree per job. */
export type Isolation = 'account' | 'job' | 'browser';

/** Where counts go; a prom-client gauge and counter fit. */
export interface ChromiumMetrics {
  readonly browsers: { set(alive: number): void };
  readonly browserRestarts: { inc(labels: { reason: RestartReason }): void };
  readonly contexts?: { set(open: number): void };
  readonly contextLeases?: { inc(labels: { kind: 'warm' | 'cold' }): void };
  /** Seconds from a render's slot to its PDF. */
  readonly contextRenders?: { observe(labels: { kind: 'warm' | 'cold' }, seconds: number): void };
}

export interface ChromiumRendererOptions {
  /** Default `preferred`. */
  readonly sandbox?: SandboxPolicy;
  /** Renders at a time. */
  readonly slots: number;
  /** Of these, how many compute at a time. Default: half as many again as there are cores. */
  readonly cores?: number;
  /** Renders that may come beyond the slots at times. Default 0. */
  readonly spareSlots?: number;
  /** Told how many renders wait for something else than a core (the network, a delay), whenever that changes. */
  readonly onResting?: (renders: number) => void;
  readonly isolation: Isolation;
  /** Default: see findBrowser. */
  readonly browserPath?: string | undefined;
  /** The egress proxy that all traffic goes through. Without it there is no network at all. */
  readonly proxyUrl?: string | undefined;
  readonly egress?: (EgressRecord & EntranceOpener) | undefined;
  /** Whom the proxy asks for what is at DOCUMENT_ORIGIN; without it documents are sent in messages. */
  readonly documents?: DocumentHost | undefined;
  readonly finish: Finish;
  readonly countPages: CountPages;
  readonly logger: Logger;
  readonly metrics?: ChromiumMetrics | undefined;
  /** Folder for the browsers' user data; what dead processes left there is removed. */
  readonly userDataRoot: string;
  /** Folder in memory for what their processes share; likewise. Default: with the user data. */
  readonly sharedMemoryRoot?: string | undefined;
  readonly recycle?: Partial<RecycleLimits>;
  /** Browsers kept, with `account` and `job`. Default: one for every eight renders that compute at a time. */
  readonly browsers?: number;
  /** Browsers apart from these that live at a time: see BrowserPlaces. Default: as many as memory and slots allow. */
  readonly browsersApart?: number;
  /** Of the memory that there is, what idle contexts may have with `account`: 0 to 1. Default 0.3. */
  readonly warmMemoryShare?: number;
  /** Idle contexts kept at most, whatever they weigh. Default 256: each has a process and its threads. */
  readonly maxIdleContexts?: number;
  /** An account's idle context is closed after this. Default 5 min. */
  readonly contextIdleMs?: number;
  /** Contexts that are made before an account comes for them, of each kind of page. Default 0. */
  readonly contextsAhead?: number;
  /** Default: as the system tells. */
  readonly memory?: MachineMemory;
  /** A renderer process above this is killed and its render rejects with BROWSER_CRASHED. Default: see pageMemoryBytes. */
  readonly rendererMemoryBytes?: number;
  /** How often browsers are pinged and weighed. Default 1 s. */
  readonly checkEveryMs?: number;
  /** A browser that does not answer a ping in this time is replaced. Default 5 s. */
  readonly pingMs?: number;
}

/** A renderer whose browser can be told of. */
export interface BrowserRenderer extends Renderer {
  readonly browser: BrowserStatus;
}

const CONTEXT_IDLE_MS = 300_000;
const DEFAULT_RECYCLE: RecycleLimits = {
  // A render leaves one or two KiB in the browser process: see docs/performance.md.
  jobs: 20_000,
  ageMs: 6 * 3_600_000,
  memoryBytes: 3 * 1024 ** 3,
  handoverJobs: 10_000,
  // By then a context that nobody has come for would have been closed anyway.
  handoverMs: CONTEXT_IDLE_MS,
};
const WARM_MEMORY_SHARE = 0.3;
const MAX_IDLE_CONTEXTS = 256;
const COMPUTING_PER_BROWSER = 8;
const LAUNCH_MS = 20_000;
/** How often it is tried to look whether browsers are in their sandbox, and how long is waited in between. */
const LOOKS = 5;
const LOOK_AGAIN_MS = 500;

/**
 * Starts the browsers and answers with the Renderer that prints in them.
 *
 * @throws Error when no browser is found or the first one does not start.
 * @throws SandboxMissing when the sandbox is required and not in force.
 */
export async function createChromiumRenderer(options: ChromiumRendererOptions): Promise<BrowserRenderer> {
  const { logger, metrics, slots, isolation } = options;
  const { userDataRoot, sharedMemoryRoot } = options;
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
  };
  const policy = options.sandbox ?? 'preferred';
  const reason = await reasonAgainstSandbox(policy, launch);
  const exclusive = isolation === 'browser';
  const machineCores = Math.min(slots, options.cores ?? coresOfMachine());
  const atATime = exclusive || options.cores !== undefined ? machineCores : rendersOnCores(machineCores);
  const cores = new Cores(Math.min(slots, atATime), options.onResting);
  const machine = options.memory ?? machineMemory();
  const browsers = new BrowserPool(
    {
      launch: { ...launch, sandbox: reason === undefined },
      documents: options.documents,
      egress: options.egress,
      size: exclusive ? machineCores : (options.browsers ?? Math.ceil(machineCores / COMPUTING_PER_BROWSER)),
      exclusive,
      apart: {
        total: options.browsersApart ?? placesFor(slots, machine.total),
        starting: Math.ceil(machineCores / 2),
        onWaiting: (change) => cores.rest(change),
      },
      recycle: { ...DEFAULT_RECYCLE, ...options.recycle },
      rendererMemoryBytes: options.rendererMemoryBytes ?? pageMemoryBytes(machine.total),
      checkEveryMs: options.checkEveryMs ?? 1000,
      pingMs: options.pingMs ?? 5000,
      observer: {
        restarted: (reason) => metrics?.browserRestarts.inc({ reason }),
        alive: (alive) => metrics?.browsers.set(alive),
      },
      logger,
    },
    {
      retired: (browser) => contexts.release(browser),
      handsOver: (browser) => contexts.handOver(browser),
      idleIn: (browser) => contexts.idleIn(browser),
      weighed: async (weights) => {
        memory.weighed(weights.map(({ renderers }) => renderers));
        contexts.keepWithinMemory();
        const ended = await endHeaviestPage(machine, weights, () => contexts.idlePids());
        if (ended !== undefined) logger.warn({ pid: ended }, 'memory runs out: the heaviest page is ended');
      },
      memoryShort: () => memory.short,
    },
  );
  const memory = new WarmMemory(options.warmMemoryShare ?? WARM_MEMORY_SHARE, machine);
  const apart = new Apart();
  const contexts = new ContextPool(
    {
      keepWarm: isolation === 'account',
      maxIdle: options.maxIdleContexts ?? MAX_IDLE_CONTEXTS,
      idleMs: options.contextIdleMs ?? CONTEXT_IDLE_MS,
      ahead: exclusive ? 0 : (options.contextsAhead ?? 0),
      coreIsIdle: () => cores.taken < machineCores,
      memory,
      onCount: (open) => metrics?.contexts?.set(open),
      onLease: (kind) => metrics?.contextLeases?.inc({ kind }),
      onExcess: (accountId) => apart.note(accountId),
    },
    browsers,
  );
  try {
    await browsers.start();
    const browser = { ...(await lookInto(browsers)), ...(reason !== undefined && { reason }) };
    tell(logger, browser);
    if (policy === 'required' && browser.sandbox !== 'on')
      throw new SandboxMissing(`a renderer was looked at, and its sandbox is ${browser.sandbox}`);
    const renderSlots = await RenderSlots.launch(slots + (options.spareSlots ?? 0), contexts);
    return new ChromiumRenderer(options, { apart, browser, browsers, contexts, cores, slots: renderSlots });
  } catch (error) {
    await browsers.close();
    throw error;
  }
}

/** Looks at a browser; at the next one where it dies of something else in the meantime. */
async function lookInto(browsers: BrowserPool): Promise<BrowserStatus> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await browsers.borrow(lookAt);
    } catch (error) {
      if (tries === LOOKS) throw error;
      await pause(LOOK_AGAIN_MS);
    }
  }
}

/** Opens a page and looks at its process. */
async function lookAt(browser: RenderBrowser): Promise<BrowserStatus> {
  const { product: version } = await browser.connection.send('Browser.getVersion');
  const context = await browser.openContext({ targetAppeared() {} });
  try {
    const { session } = await browser.openPage(context, true);
    // Answered by the renderer, once it is in its sandbox.
    await session.send('Runtime.evaluate', { expression: '0' });
    return { version, sandbox: sandboxOf(browser.pid) };
  } finally {
    await browser.closeContext(context);
  }
}

function tell(logger: Logger, { sandbox, version, reason }: BrowserStatus): void {
  const browser = { browser: version, sandbox };
  if (sandbox === 'on') logger.info(browser, "Chromium's sandbox is in force");
  else if (reason !== undefined)
    logger.warn(browser, `Chromium runs without its sandbox: ${reason}: see docs/image.md`);
  else logger.warn(browser, "Chromium's sandbox could not be found in force: see docs/image.md");
}

interface Parts {
  readonly apart: Apart;
  readonly browser: BrowserStatus;
  readonly browsers: BrowserPool;
  readonly contexts: ContextPool;
  readonly cores: Cores;
  readonly slots: RenderSlots;
}

class ChromiumRenderer implements BrowserRenderer {
  readonly #options: ChromiumRendererOptions;
  readonly #parts: Parts;
  readonly #shared: RenderParts;
  readonly #running = new Map<JobEnd, Promise<unknown>>();
  #lastProgress = Date.now();
  #closed: Promise<void> | undefined;

  constructor(options: ChromiumRendererOptions, parts: Parts) {
    this.#options = options;
    this.#parts = parts;
    const { egress, finish, countPages } = options;
    this.#shared = { egress, finish, countPages, watermarks: new WatermarkCache() };
  }

  get browser(): BrowserStatus {
    return this.#parts.browser;
  }

  async render(request: RenderRequest): Promise<RenderedPdf> {
    if (this.#closed) throw new PlatenError('WORKER_LOST');
    const end = new JobEnd(request.deadline, request.signal, request.onWaiting);
    const rendering = this.#renderInSlot(request, end);
    this.#running.set(end, rendering);
    try {
      return await rendering;
    } catch (error) {
      this.#options.logger.debug({ jobId: request.jobId, err: error }, 'a render failed');
      throw error;
    } finally {
      this.#running.delete(end);
      end.dispose();
      this.#lastProgress = Date.now();
    }
  }

  health(): RendererHealth {
    const { browsers, slots } = this.#parts;
    const { busy, total } = slots;
    if (busy === 0) this.#lastProgress = Date.now();
    return {
      ready: this.#closed === undefined && browsers.ready,
      slots: total,
      busy,
      browsers: browsers.browsers,
      lastProgress: this.#lastProgress,
    };
  }

  close(): Promise<void> {
    this.#closed ??= this.#end();
    return this.#closed;
  }

  async #end(): Promise<void> {
    for (const end of this.#running.keys()) end.end(new PlatenError('WORKER_LOST'));
    await Promise.allSettled(this.#running.values());
    await this.#parts.slots.close();
    this.#parts.contexts.close();
    await this.#parts.browsers.close();
  }

  async #renderInSlot(request: RenderRequest, end: JobEnd): Promise<RenderedPdf> {
    const { accountId, class: renderClass = 'interactive', source, options, alone } = request;
    const timer = new PhaseTimer();
    const turn = new ComputeTurn(this.#parts.cores, { account: accountId, class: renderClass }, end);
    let rendered: RenderedPdf | undefined;
    try {
      const document = examineDocument(source, options);
      const group = this.#parts.apart.groupOf(accountId, document, options);
      const needs = { accountId, needsFrames: document.needsFrames, alone, group, turn };
      await this.#parts.slots.run(needs, end, async (context) => {
        const kind = context.renders++ === 0 ? 'cold' : 'warm';
        const job = { request, document, end, timer, turn };
        // A page that is thrown away takes its time to end, and no core.
        const outcome = await renderJob(context, job, this.#shared).finally(() => turn.leave());
        rendered = outcome.rendered;
        const seconds = (Date.now() - timer.startedAt) / 1000;
        this.#options.metrics?.contextRenders?.observe({ kind }, seconds);
        return outcome.clean;
      });
    } catch (error) {
      throw end.error ?? asRenderError(error);
    } finally {
      turn.leave();
      this.#parts.contexts.makeAhead();
    }
    return rendered!;
  }
}
