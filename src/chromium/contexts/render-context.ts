import type { Protocol } from 'puppeteer';
import type { BrowserLease, RenderBrowser, TargetListener } from '../browsers/browser.ts';
import type { DedicatedPages } from '../browsers/dedicated-browsers.ts';
import { NETWORK_EVENTS } from './page/page-settings.ts';
import { RenderPage } from './page/render-page.ts';

/** What a job needs of the context that it is rendered in. */
export interface ContextNeeds {
  readonly accountId: string;
  /** Whether its document looks as it should only in a page that draws frames. */
  readonly needsFrames: boolean;
  /** Whether it has to have a browser to itself, that ends with it. */
  readonly alone?: boolean | undefined;
  /** Those it shares a browser with; everybody, unless said otherwise. */
  readonly group?: string | undefined;
  /** Its core permit. The lease ends with a core taken; while a process starts others have it. */
  readonly permit?: { take(): Promise<void>; leave(): void };
}

/**
 * A browser context with its one page, used by one account, one job at a time. Nothing is shared between two contexts:
 * not cookies, storage or cache, and no renderer process, since Chromium never puts two contexts into one.
 */
export class RenderContext implements TargetListener {
  readonly browser: RenderBrowser;
  readonly page: RenderPage;
  readonly #contextId: string;
  /** Set when something was opened that cannot be cleaned away: the context is not used again. */
  tainted = false;
  /** Of the render that uses it. */
  lease: BrowserLease | undefined;
  /** Epoch milliseconds when its last job ended. */
  idleSince = 0;
  /** Renders that it has been given to. */
  renders = 0;
  /** Whether it has given back what it does not need while it is idle. */
  trimmed = false;
  /** Set when its account has got another in its place: it is not kept when its render is over. */
  replaced = false;
  #accountId: string | undefined;

  private constructor(parts: { browser: RenderBrowser; page: RenderPage; contextId: string }) {
    this.browser = parts.browser;
    this.page = parts.page;
    this.#contextId = parts.contextId;
  }

  /** Opens a context and its page, which are nobody's yet; leaves nothing behind when that fails. */
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
   * Windows are closed as they open; after them, and after workers that outlive their page, the context is done for. So
   * it is after any worker of a source URL's: it may have used passwords (see Credentials), and nobody is told.
   */
  targetAppeared({ type, targetId }: Protocol.Target.TargetInfo): void {
    if (targetId === this.page.targetId) return;
    if (type.endsWith('worker')) this.page.countWorker();
    if (type === 'page') this.browser.closeTarget(targetId);
    if (type === 'page' || type === 'shared_worker' || type === 'service_worker') this.tainted = true;
    if (type === 'worker' && this.page.settings.get(NETWORK_EVENTS)) this.tainted = true;
  }

  /** The account that it belongs to, from its first use to its end. @throws Error before that. */
  get accountId(): string {
    if (this.#accountId === undefined) throw new Error('the context is nobody’s yet');
    return this.#accountId;
  }

  /**
   * Gives it to an account, for good.
   *
   * @param dedicated notified when a document in it has gone past a bound, even when its render is over by then.
   * @throws Error when it is another's already.
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

  /** Has the page collect its garbage, behind the caller. Whatever is asked of it next comes after that. */
  trim(): void {
    this.trimmed = true;
    this.page.session.send('HeapProfiler.collectGarbage').catch(() => undefined);
  }

  get usable(): boolean {
    return !this.tainted && !this.page.dead && this.browser.alive && !this.browser.retiring;
  }

  /**
   * Ends the page and everything else in the context, whatever it is busy with.
   *
   * @param hung whether its page may be busy without end. Chromium would wait for it for a second or two, in which it
   *   computes beside all others: it is ended by its process.
   */
  async close(hung = false): Promise<void> {
    this.page.expectEnd();
    if (hung) this.page.process?.end();
    if (this.browser.alive) await this.browser.closeContext(this.#contextId);
  }
}
