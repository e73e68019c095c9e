import { unlessAborted } from '../../async/unless-aborted.ts';
import type { BrowserRequest } from '../../scheduling/dedicated-browsers.ts';
import type { BrowserLease, RenderBrowser } from './browser.ts';

/** A browser of a group ends when nobody has used it for so long, in milliseconds. */
const GROUP_IDLE_MS = 5000;

/** The browsers that groups have theirs among. */
export interface GroupedBrowsers {
  /** Starts a dedicated browser in the name of the request that needs it first. */
  launch(request: BrowserRequest, group: string): Promise<RenderBrowser>;
  /** Counts a render into a browser. */
  lease(browser: RenderBrowser): BrowserLease;
  /** Has a browser take no more renders, and end after the last. */
  retire(browser: RenderBrowser): void;
}

/** A browser that runs or is being started. */
interface Started {
  readonly browser: Promise<RenderBrowser>;
  /** Of the render in whose name it is started: it may give up, and others of its group wait still. */
  readonly signal: AbortSignal;
}

/**
 * The browsers of groups of renders that may break a browser for others: one for each group, that is started when it is
 * needed and ends soon after the last of its renders.
 */
export class BrowserGroups {
  readonly #pool: GroupedBrowsers;
  readonly #browsers = new Map<string, Started>();

  constructor(pool: GroupedBrowsers) {
    this.#pool = pool;
  }

  /**
   * Counts a render into the browser of its group.
   *
   * @throws what the start of a browser rejects with; the reason of the request's signal when that aborts first.
   */
  async acquire(group: string, request: BrowserRequest): Promise<BrowserLease> {
    const { signal } = request;
    for (;;) {
      const started = this.#browsers.get(group) ?? this.#start(group, request);
      const browser = await unlessAborted(signal, started.browser).catch((error: unknown) => {
        if (signal.aborted || !started.signal.aborted) throw error;
        return undefined;
      });
      signal.throwIfAborted();
      if (browser?.alive && !browser.retiring) return this.#pool.lease(browser);
      this.#forget(group, started);
    }
  }

  /** Ends a browser of a group that nobody has used for a while. */
  endUnused(browser: RenderBrowser): void {
    const unused = browser.busy === 0 && Date.now() - browser.idleSince > GROUP_IDLE_MS;
    if (browser.group !== undefined && !browser.retiring && unused) this.#pool.retire(browser);
  }

  #start(group: string, request: BrowserRequest): Started {
    const started = { browser: this.#pool.launch(request, group), signal: request.signal };
    this.#browsers.set(group, started);
    const forget = () => this.#forget(group, started);
    started.browser.then((browser) => browser.exited.then(forget), forget);
    return started;
  }

  /** The next render of the group starts another browser, if none has yet. */
  #forget(group: string, started: Started): void {
    if (this.#browsers.get(group) === started) this.#browsers.delete(group);
  }
}
