import { type ChildProcess, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import puppeteer from 'puppeteer';
import { within } from '../../../infra/async/timeout.ts';
import { BoundedPipe } from './bounded-pipe.ts';
import { niceCommand, niceSession } from './priority.ts';
import { killGroup } from './processes.ts';

interface SpawnOptions {
  readonly path: string;
  /** Whether it is a headless shell or an ordinary Chromium. */
  readonly kind: 'shell' | 'full';
  readonly userDataDir: string;
  /** In addition to puppeteer's own. */
  readonly args: string[];
  readonly env: Record<string, string>;
  /** Longest wait for its first response, in milliseconds. */
  readonly timeoutMs: number;
}

/** Puppeteer's argument against parts of a full Chromium that are kept up to date by themselves. */
export const NO_COMPONENTS = '--disable-component-update';

/** Puppeteer's arguments that are not passed on. */
const LEFT_OUT = new Set([
  // Requested per document.
  '--export-tagged-pdf',
  '--generate-pdf-document-outline',
  '--enable-automation',
  // Would lift Chromium's own limit on navigations and changes of address: 200 per page in ten seconds.
  '--disable-ipc-flooding-protection',
  NO_COMPONENTS,
]);
/** Characters of a browser's output that are kept for the error message if it does not start. */
const KEPT_OUTPUT = 4000;

/** The leaders of running process groups, which are killed when this process exits. */
const running = new Set<number>();
process.once('exit', () => {
  for (const leader of running) killGroup(leader);
});

/**
 * Starts a browser in a process group of its own, and connects to it over a bounded pipe. Its standard error is read
 * and dropped except for the end, since documents can make it write without end.
 *
 * @throws Error when it ends before it has responded; TimeoutError when it does not respond in time. The browser is
 *   then ended completely.
 */
export async function spawnBrowser(options: SpawnOptions) {
  const headless = options.kind === 'shell' ? 'shell' : true;
  const { userDataDir } = options;
  const all = await puppeteer.defaultArgs({ headless, userDataDir, args: [...options.args] });
  const args = ['--remote-debugging-pipe', ...all.filter((arg) => !LEFT_OUT.has(arg))];
  const [command, ...rest] = niceCommand([options.path, ...args]);
  const child = spawn(command, rest, {
    detached: true,
    env: options.env,
    stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'pipe'],
  });
  const { pid } = child;
  if (pid !== undefined) {
    running.add(pid);
    void niceSession(pid);
  }
  child.once('exit', () => running.delete(pid!));
  const pipe = new BoundedPipe(child.stdio[3] as Writable, child.stdio[4] as Readable);
  try {
    const connecting = puppeteer.connect({
      transport: pipe,
      protocolTimeout: 0,
      defaultViewport: null,
      targetFilter: () => false,
    });
    const response = Promise.race([connecting, failure(child)]);
    const browser = await within(options.timeoutMs, 'The start of the browser', response);
    return { browser, pipe, child };
  } catch (error) {
    if (pid !== undefined) killGroup(pid);
    throw error;
  }
}

/** Rejects when the browser cannot be started, or ends. */
function failure(child: ChildProcess): Promise<never> {
  let written = '';
  child.stderr!.setEncoding('latin1').on('data', (text: string) => {
    written = (written + text).slice(-KEPT_OUTPUT);
  });
  const ended = new Promise<never>((_, reject) => {
    child.once('error', reject);
    // After its output has been read.
    child.once('close', (code, signal) => {
      reject(new Error(`The browser ended with ${signal ?? `code ${code}`}.\n${written}`.trimEnd()));
    });
  });
  ended.catch(() => undefined);
  return ended;
}
