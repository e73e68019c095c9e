import { unlessAborted } from '../../../infra/async/unless-aborted.ts';
import type { BrowserRequest } from '../../../infra/scheduling/dedicated-browsers.ts';
import type { BrowserLease, RenderBrowser } from './browser.ts';

/** A group's browser ends after it has been unused for this long, in milliseconds. */
const GROUP_IDLE_MS = 5000;

/** The pool that starts, leases and retires the browsers of groups. */
export interface GroupedBrowsers {
  /** Starts a dedicated browser for the group, on behalf of the first request that needs it. */
  launch(request: BrowserRequest, group: string): Promise<RenderBrowser>;
  /** Counts a render of an account as running in a browser. */
  lease(browser: RenderBrowser, account: string): BrowserLease;
  /** Retires a browser: it takes no more renders, and ends after the last one. */
  retire(browser: RenderBrowser): void;
}

/** A browser that runs or is being started. */
interface Started {
  readonly browser: Promise<RenderBrowser>;
  /** Of the render that it is started for, which may be aborted while others of its group still wait. */
  readonly signal: AbortSignal;
}

/**
 * The browsers for groups of renders that may break a browser for others: one browser per group. It is started when it
 * is needed, and ends soon after the last of its renders.
 */
export class BrowserGroups {
  readonly #pool: GroupedBrowsers;
  readonly #browsers = new Map<string, Started>();

  constructor(pool: GroupedBrowsers) {
    this.#pool = pool;
  }

  /** @throws the rejection of the browser's start; the reason of the request's signal when that aborts first. */
  async acquire(group: string, request: BrowserRequest): Promise<BrowserLease> {
    const { signal } = request;
    for (;;) {
      const started = this.#browsers.get(group) ?? this.#start(group, request);
      const browser = await unlessAborted(signal, started.browser).catch((error: unknown) => {
        if (signal.aborted || !started.signal.aborted) throw error;
        return undefined;
      });
      signal.throwIfAborted();
      if (browser?.alive && !browser.retiring) return this.#pool.lease(browser, request.account);
      this.#forget(group, started);
    }
  }

  /** Retires a group's browser that has been unused for longer than GROUP_IDLE_MS. */
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

  /** Removes a browser from its group, so that the group's next render starts another one. */
  #forget(group: string, started: Started): void {
    if (this.#browsers.get(group) === started) this.#browsers.delete(group);
  }
}
