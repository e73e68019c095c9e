import type { Protocol } from 'puppeteer';
import { RenderPage } from '../page/render-page.ts';
import type { RenderBrowser, TargetListener } from './browser.ts';

/** What a job needs of the context that it is rendered in. */
export interface ContextNeeds {
  readonly accountId: string;
  /** Whether its document looks as it should only in a page that draws frames. */
  readonly needsFrames: boolean;
  /** Whether it has to have a browser to itself, that ends with it. */
  readonly alone?: boolean | undefined;
}

/**
 * A browser context with its one page, used by one account, one job at a time. Nothing is shared between two contexts:
 * not cookies, storage or cache, and no renderer process, since Chromium never puts two contexts into one.
 */
export class RenderContext implements TargetListener {
  readonly accountId: string;
  readonly browser: RenderBrowser;
  readonly page: RenderPage;
  readonly #contextId: string;
  /** Set when something was opened that cannot be cleaned away: the context is not used again. */
  tainted = false;
  /** Epoch milliseconds when its last job ended. */
  idleSince = 0;

  private constructor(parts: {
    accountId: string;
    browser: RenderBrowser;
    page: RenderPage;
    contextId: string;
  }) {
    this.accountId = parts.accountId;
    this.browser = parts.browser;
    this.page = parts.page;
    this.#contextId = parts.contextId;
  }

  /** Opens a context and its page; leaves nothing behind when that fails. */
  static async open(
    browser: RenderBrowser,
    { accountId, needsFrames }: Pick<ContextNeeds, 'accountId' | 'needsFrames'>,
  ): Promise<RenderContext> {
    const early: Protocol.Target.TargetInfo[] = [];
    const listener: TargetListener = { targetAppeared: (target) => early.push(target) };
    const contextId = await browser.openContext({
      targetAppeared: (target) => listener.targetAppeared(target),
    });
    try {
      const drawsFrames = browser.drawsFrames(needsFrames);
      const { session, targetId } = await browser.openPage(contextId, drawsFrames);
      const page = new RenderPage(session, targetId, drawsFrames, browser.surroundings(session));
      const context = new RenderContext({ accountId, browser, page, contextId });
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
    this.page.countTarget();
    if (type === 'page') this.browser.closeTarget(targetId);
    if (type === 'page' || type === 'shared_worker' || type === 'service_worker') this.tainted = true;
    if (type === 'worker' && this.page.reportsNetwork) this.tainted = true;
  }

  fits({ accountId, needsFrames, alone }: ContextNeeds): boolean {
    if (this.accountId !== accountId || alone || !this.usable) return false;
    return this.page.drawsFrames === this.browser.drawsFrames(needsFrames);
  }

  get usable(): boolean {
    return !this.tainted && !this.page.dead && this.browser.alive && !this.browser.retiring;
  }

  /** Ends the page and everything else in the context, whatever it is busy with. */
  async close(): Promise<void> {
    this.page.expectEnd();
    if (this.browser.alive) await this.browser.closeContext(this.#contextId);
  }
}
