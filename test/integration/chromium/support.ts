import { mkdtempSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import pino from 'pino';
import { createAddressPolicy } from '../../../src/infra/egress/address-policy.ts';
import { parseNetworks } from '../../../src/infra/egress/networks.ts';
import { type EgressProxy, startEgressProxy } from '../../../src/infra/egress/proxy.ts';
import {
  type ChromiumRendererOptions,
  createChromiumRenderer,
} from '../../../src/render/chromium/create-chromium-renderer.ts';
import { DocumentHost } from '../../../src/render/chromium/page/document-host.ts';
import { processTree } from '../../../src/render/chromium/process/processes.ts';
import type { RenderOptions } from '../../../src/render/options/all/render-options.ts';
import { createPdfFinisher } from '../../../src/render/pdf/finish.ts';
import type { Renderer, RenderRequest, RenderResult, RenderSource } from '../../../src/render/renderer.ts';
import { HUNG_MS } from '../../support/eventually.ts';
import { used } from '../../support/used.ts';

export const silent = pino({ level: process.env.LOG_LEVEL ?? 'silent' });

/** A renderer with all its parts, and what a test wants to know of it. */
export interface Bench {
  readonly renderer: Renderer;
  readonly proxy: EgressProxy;
  /** Reasons of browser restarts so far. */
  readonly restarts: string[];
  readonly userDataRoot: string;
  close(): Promise<void>;
}

export async function startBench(options: Partial<ChromiumRendererOptions> = {}): Promise<Bench> {
  const userDataRoot = options.userDataRoot ?? mkdtempSync(join(tmpdir(), 'platen-test-'));
  const restarts: string[] = [];
  const policy = createAddressPolicy({ allowedNetworks: parseNetworks(['127.0.0.0/8']) });
  const documents = new DocumentHost();
  const proxy = await startEgressProxy({
    policy,
    respondLocally: (...exchange) => documents.response(...exchange),
    logger: silent,
    // Every name under .test is this machine, whose documents are anybody's.
    lookup: async (name) => {
      if (name.endsWith('.test')) return ['127.0.0.1'];
      throw Object.assign(new Error('no such name'), { code: 'ENOTFOUND' });
    },
  });
  const finisher = createPdfFinisher({ processes: 1 });
  const renderer = await createChromiumRenderer({
    browserPath: process.env.PLATEN_CHROMIUM_PATH,
    slots: 2,
    isolation: 'account',
    proxyUrl: proxy.url,
    egress: proxy,
    documents,
    finisher,
    logger: silent,
    metrics: {
      browsers: { set: () => undefined },
      browserRestarts: { inc: ({ reason }) => restarts.push(reason) },
    },
    ...options,
    userDataRoot,
  });
  return {
    renderer,
    proxy,
    restarts,
    userDataRoot,
    async close() {
      await renderer.close();
      await Promise.all([proxy.close(), finisher.close()]);
      if (!options.userDataRoot) rmSync(userDataRoot, { recursive: true, force: true });
    },
  };
}

/** A bench for the tests of one `describe`, there from its `before` on; with `each`, one for each test. */
export function useBench(options?: Partial<ChromiumRendererOptions>, each?: 'each'): Bench {
  return used(() => startBench(options), each);
}

let jobs = 0;

export interface JobSettings {
  /** Whether it has a browser to itself. */
  readonly alone?: boolean;
  readonly accountId?: string;
  readonly timeoutMs?: number;
  readonly maxOutputBytes?: number;
  readonly signal?: AbortSignal;
  readonly onFailed?: RenderRequest['onFailed'];
}

export function render(
  { renderer }: Pick<Bench, 'renderer'>,
  document: string | { readonly url: string } | { readonly html: string; readonly template: string },
  options: RenderOptions = {},
  settings: JobSettings = {},
): Promise<RenderResult> {
  const source: RenderSource =
    typeof document === 'string'
      ? { kind: 'html', html: document }
      : 'url' in document
        ? { kind: 'url', url: document.url }
        : { kind: 'html', ...document };
  const request: RenderRequest = {
    jobId: `job-${++jobs}`,
    accountId: settings.accountId ?? 'account',
    source,
    options,
    deadline: Date.now() + (settings.timeoutMs ?? HUNG_MS),
    maxOutputBytes: settings.maxOutputBytes ?? 50 * 1024 * 1024,
    alone: settings.alone ?? false,
    signal: settings.signal ?? new AbortController().signal,
    ...(settings.onFailed && { onFailed: settings.onFailed }),
  };
  return renderer.render(request);
}

/** The document as it is when it has to be rendered in a page that draws frames; it looks the same. */
export function inDrawnFrames(html: string): string {
  return `${html}<style>i { transition: none }</style>`;
}

export interface Site {
  readonly port: number;
  /** Under a name that the proxy resolves to this machine: `http://NAME.test:PORT/…`. */
  at(path: string, name?: string): string;
  readonly requests: { readonly path: string; readonly headers: IncomingMessage['headers'] }[];
  close(): Promise<void>;
}

/** A web server of the test's own. */
export async function startSite(
  reply: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<Site> {
  const requests: { path: string; headers: IncomingMessage['headers'] }[] = [];
  const server = createServer((request, response) => {
    requests.push({ path: request.url ?? '', headers: request.headers });
    reply(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    requests,
    at: (path, name = 'site') => `http://${name}.test:${port}${path}`,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** The browser processes that this process has started, and all below them. */
export function browserProcesses(): number[] {
  return processTree(process.pid)
    .map(({ pid }) => pid)
    .filter((pid) => pid !== process.pid);
}

/** The code and permanence that a render rejects with. */
export async function failure(
  rendering: Promise<unknown>,
): Promise<{ code: string; permanent: boolean; message: string }> {
  try {
    await rendering;
  } catch (error) {
    return error as { code: string; permanent: boolean; message: string };
  }
  throw new Error('the render was expected to fail');
}

/** Renderer processes of the browsers that this process has started. */
export function rendererProcesses(): number[] {
  return browserProcesses().filter((pid) => commandLine(pid).includes('--type=renderer'));
}

/** The state of a process, by proc(5): `T` when it is stopped; undefined when it has ended. */
export function stateOf(pid: number): string | undefined {
  try {
    return /^State:\s+(\w)/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1];
  } catch {
    return undefined;
  }
}

/**
 * Browsers' main processes; not what starts them with the same arguments, as nice(1) and the script of Debian's package,
 * nor a child in the moment before it becomes something else, while it still has its parent's command line.
 */
export function mainProcesses(): number[] {
  const browsers = new Map(
    processTree(process.pid)
      .filter(({ pid }) => isBrowser(pid))
      .map(({ pid, parent }) => [pid, parent]),
  );
  return [...browsers].filter(([, parent]) => !browsers.has(parent)).map(([pid]) => pid);
}

function isBrowser(pid: number): boolean {
  const command = commandLine(pid);
  if (!command.includes('--remote-debugging-pipe') || command.includes('--type=')) return false;
  try {
    return !['nice', 'sh', 'bash', 'dash', 'busybox'].includes(basename(readlinkSync(`/proc/${pid}/exe`)));
  } catch {
    // It has ended meanwhile.
    return false;
  }
}

export function commandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' ');
  } catch {
    return '';
  }
}
