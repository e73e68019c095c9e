import type { Protocol } from 'puppeteer';
import type { BrowserLease, RenderBrowser, TargetListener } from '../browsers/browser.ts';
import type { DedicatedPages } from '../browsers/dedicated-pages.ts';
import { NETWORK_EVENTS } from '../page/page-settings.ts';
import { RenderPage } from '../page/render-page.ts';

/** A job's requirements of its context. */
export interface ContextNeeds {
  readonly accountId: string;
  /** Whether its document is only drawn correctly in a page that draws frames. */
  readonly needsFrames: boolean;
  /** Whether the job needs a browser of its own, which ends with it. */
  readonly alone?: boolean | undefined;
  /** The group of renders that share its browser; without it, the browser is shared by all. */
  readonly group: string | undefined;
}

/**
 * A browser context with its one page, used by one account, one job at a time. Two contexts share neither cookies,
 * storage or cache, nor a renderer process, since Chromium never runs two contexts in one process.
 */
export class RenderContext implements TargetListener {
  readonly browser: RenderBrowser;
  readonly page: RenderPage;
  readonly #contextId: string;
  /** Set when something was opened that cannot be removed: the context is not used again. */
  tainted = false;
  /** Keeps its browser from ending while a render uses it. */
  browserLease: BrowserLease | undefined;
  /** Epoch milliseconds when its last job ended. */
  idleSince = 0;
  /** Number of renders that have used it. */
  renders = 0;
  /** Whether its garbage has been collected since it became idle. */
  trimmed = false;
  /** Set when another context has replaced it for its account: it is not kept when its render is over. */
  replaced = false;
  #accountId: string | undefined;

  private constructor(parts: { browser: RenderBrowser; page: RenderPage; contextId: string }) {
    this.browser = parts.browser;
    this.page = parts.page;
    this.#contextId = parts.contextId;
  }

  /** Opens a context and its page, without an account yet; leaves nothing behind when that fails. */
  static async open(browser: RenderBrowser, needsFrames: boolean): Promise<RenderContext> {
    const early: Protocol.Target.TargetInfo[] = [];
    const listener: TargetListener = { targetAppeared: (target) => early.push(target) };
    const contextId = await browser.openContext({
      targetAppeared: (target) => listener.targetAppeared(target),
    });
    try {
      const drawsFrames = browser.drawsFrames(needsFrames);
      const { session, targetId } = await browser.openPage(contextId, drawsFrames);
      const page = new RenderPage(session, targetId, drawsFrames, browser.surroundings(session));
      const context = new RenderContext({ browser, page, contextId });
      listener.targetAppeared = (target) => context.targetAppeared(target);
      for (const target of early) context.targetAppeared(target);
      await page.prepare();
      return context;
    } catch (error) {
      await browser.closeContext(contextId);
      throw error;
    }
  }

  /**
   * Closes windows as they open. After a window, or a worker that outlives its page, the context is not used again. The
   * same holds for any worker of a source URL: it may have used passwords (see Credentials), and its requests are not
   * reported.
   */
  targetAppeared({ type, targetId }: Protocol.Target.TargetInfo): void {
    if (targetId === this.page.targetId) return;
    if (type.endsWith('worker')) this.page.countWorker();
    if (type === 'page') this.browser.closeTarget(targetId);
    if (type === 'page' || type === 'shared_worker' || type === 'service_worker') this.tainted = true;
    if (type === 'worker' && this.page.settings.get(NETWORK_EVENTS)) this.tainted = true;
  }

  /** The account that the context belongs to, from its first use to its end. @throws Error before that. */
  get accountId(): string {
    if (this.#accountId === undefined) throw new Error('the context is nobody’s yet');
    return this.#accountId;
  }

  /**
   * Assigns the context to an account, for good.
   *
   * @param dedicated notified when a document in the context has exceeded a limit, even when its render is over by
   *   then.
   * @throws Error when it is assigned already.
   */
  assign(accountId: string, dedicated: DedicatedPages): void {
    if (this.#accountId !== undefined) throw new Error('the context belongs to an account');
    this.#accountId = accountId;
    this.browser.assign(this.#contextId, accountId);
    this.page.onLimitExceeded = () => dedicated.note(accountId);
  }

  fits({ accountId, needsFrames, alone, group }: ContextNeeds): boolean {
    const among = !alone && this.browser.group === group;
    return among && this.#accountId === accountId && this.usable && this.draws(needsFrames);
  }

  /** Whether its page is of the kind that a document needs. */
  draws(needsFrames: boolean): boolean {
    return this.page.drawsFrames === this.browser.drawsFrames(needsFrames);
  }

  /** Starts a garbage collection of the page, in the background. Later commands run after it. */
  trim(): void {
    this.trimmed = true;
    this.page.session.send('HeapProfiler.collectGarbage').catch(() => undefined);
  }

  get usable(): boolean {
    return !this.tainted && !this.page.dead && this.browser.alive && !this.browser.retiring;
  }

  /**
   * Ends the page and everything else in the context, even while it computes.
   *
   * @param hung whether its page may compute without end. Chromium would wait a second or two for it, during which it
   *   would compute concurrently with all others; so its process is killed.
   */
  async close(hung = false): Promise<void> {
    this.page.expectEnd();
    if (hung) this.page.process?.end();
    if (this.browser.alive) await this.browser.closeContext(this.#contextId);
  }
}
