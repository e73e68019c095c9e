import type { CancelScope } from '../cancel-scope.ts';
import type { ComputePermit } from '../cpu/compute-permit.ts';
import { CorePolicy } from '../cpu/core-policy.ts';
import type { RenderPage } from '../page/render-page.ts';
import type { BrowserServices } from '../process/browser-services.ts';
import { RenderContext } from './render-context.ts';

/** A render's use of a context. It begins with a core. */
export interface ContextLease {
  readonly page: RenderPage;
  readonly core: CorePolicy;
  /** The processes that all pages of its browser share. */
  readonly services: BrowserServices;
  /** Whether a render has used the context before. */
  readonly kind: 'warm' | 'cold';
  /** Does `work` in a new page of the same browser, which draws frames and ends afterwards, even if it computes. */
  inPageWithFrames(work: (page: RenderPage) => Promise<void>): Promise<void>;
  /** To be called once; takes time, but no core. @param clean whether nothing of the document is left in the page. */
  release(clean: boolean): Promise<void>;
}

/** @param takeBack keeps the context if it is clean, or else ends it. */
export function leaseOf(
  context: RenderContext,
  permit: ComputePermit,
  end: CancelScope,
  takeBack: (clean: boolean) => Promise<void>,
): ContextLease {
  const { page, browser } = context;
  return {
    page,
    core: new CorePolicy(page, permit, end),
    services: browser.services,
    kind: context.renders++ === 0 ? 'cold' : 'warm',
    async inPageWithFrames(work) {
      const other = await RenderContext.open(browser, true);
      await work(other.page).finally(() => void other.close(true));
    },
    async release(clean) {
      permit.release();
      await takeBack(clean);
    },
  };
}
