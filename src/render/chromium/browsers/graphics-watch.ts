import type { Logger } from 'pino';
import { within } from '../../../infra/async/timeout.ts';
import type { RenderBrowser } from './browser.ts';
import type { BrowserProcess } from './browser-scale.ts';
import { inNewPage } from './new-page.ts';

/** A GPU process that uses less than this share of a core draws for nobody, or little. */
const BUSY_SHARE = 0.1;
/** Consecutive checks at which it is busy before it has to draw. */
const BUSY_CHECKS = 2;
/** Time that it has to draw once every render that ran when it began to be busy has ended, in milliseconds. */
const AFTER_RENDER_MS = 3000;
/** Time that it has to draw while such a render runs, in milliseconds. On a busy machine a healthy one may be slow. */
const DURING_RENDER_MS = 15_000;
/** Time after it has drawn until it has to draw again, in milliseconds. */
const AGAIN_MS = 10_000;

/** Resolves with the first pixel. WebGL of all pages waits in one queue: behind a shader without end, it never does. */
const DRAW = `(() => {
  const gl = new OffscreenCanvas(1, 1).getContext('webgl');
  gl?.clear(gl.COLOR_BUFFER_BIT);
  gl?.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(4));
})()`;

/** What is known of a browser's GPU process. */
interface Watched {
  readonly pid: number;
  readonly startTime: number;
  /** Time of the last check, in milliseconds. */
  checkedAt: number;
  /** Consecutive checks at which it was busy, and the time before which it was not. */
  busyChecks: number;
  busySince: number;
  /** When it began to draw as required; undefined while it does not have to. */
  drawingSince: number | undefined;
  /** It need not draw before this time. */
  againAt: number;
}

interface GraphicsWatchOptions {
  /** Called with the accounts whose renders may have caused the end of a GPU process. */
  readonly onSuspects: (accounts: readonly string[]) => void;
  readonly end: (browser: RenderBrowser, process: BrowserProcess) => void;
  readonly logger: Pick<Logger, 'warn'>;
}

/**
 * Ends GPU processes that no longer draw. All pages of a browser draw WebGL and WebGPU in its one GPU process, one after
 * the other, and Chromium does not interrupt a shader of the software renderer: after a document with an endless one,
 * all others would wait for ever. A busy GPU process therefore has to draw one pixel for a page of this class's own.
 * Chromium replaces a process that was ended.
 */
export class GraphicsWatch {
  readonly #options: GraphicsWatchOptions;
  readonly #watched = new WeakMap<RenderBrowser, Watched>();

  constructor(options: GraphicsWatchOptions) {
    this.#options = options;
  }

  /** To be called about every second for each browser. @param share of a core used since the last call. */
  check(browser: RenderBrowser, process: BrowserProcess, share: number): void {
    const now = performance.now();
    const watched = this.#watchedIn(browser, process, now);
    if (watched.drawingSince !== undefined) {
      const limit = browser.renders.someRunsSince(watched.busySince) ? DURING_RENDER_MS : AFTER_RENDER_MS;
      if (now - watched.drawingSince > limit) this.#end(browser, process, watched);
    } else if (share < BUSY_SHARE) {
      watched.busyChecks = 0;
    } else {
      if (watched.busyChecks === 0) watched.busySince = watched.checkedAt;
      watched.busyChecks++;
      if (watched.busyChecks >= BUSY_CHECKS && now >= watched.againAt)
        void this.#requireDrawing(browser, watched);
    }
    watched.checkedAt = now;
  }

  #watchedIn(browser: RenderBrowser, { pid, startTime }: BrowserProcess, now: number): Watched {
    const known = this.#watched.get(browser);
    if (known?.pid === pid && known.startTime === startTime) return known;
    const watched: Watched = {
      pid,
      startTime,
      checkedAt: now,
      busyChecks: 0,
      busySince: now,
      drawingSince: undefined,
      againAt: now,
    };
    this.#watched.set(browser, watched);
    return watched;
  }

  async #requireDrawing(browser: RenderBrowser, watched: Watched): Promise<void> {
    watched.drawingSince = performance.now();
    const drawn = inNewPage(browser, (session) => session.send('Runtime.evaluate', { expression: DRAW }));
    // A page that cannot be opened is the matter of BrowserProof.
    await within(2 * DURING_RENDER_MS, 'drawing', drawn).catch(() => undefined);
    watched.drawingSince = undefined;
    watched.busyChecks = 0;
    watched.againAt = performance.now() + AGAIN_MS;
  }

  #end(browser: RenderBrowser, process: BrowserProcess, watched: Watched): void {
    const { busySince, pid } = watched;
    // It became busy between the first busy check and the one before; checks are about a second apart.
    const suspects = browser.renders.accountsBetween(busySince, busySince + 1500);
    this.#options.logger.warn(
      { pid, browser: browser.pid, accounts: suspects.slice(0, 5), suspects: suspects.length },
      'a GPU process draws nothing any more, and is ended',
    );
    this.#options.onSuspects(suspects);
    this.#options.end(browser, process);
  }
}
