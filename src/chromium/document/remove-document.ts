import { emptyUnlessFetched, leaveStillDocument, resetPage } from '../page/reset.ts';
import type { RenderContext } from '../pool/render-context.ts';
import type { LoadStrategy } from './load-strategy.ts';

/** Each resolves to whether the page can be used again. */
const REMOVALS: Readonly<Record<LoadStrategy['clean'], (context: RenderContext) => Promise<boolean>>> = {
  // Where it went with what it has fetched was not told: such a page is not used again.
  empty: async (context) =>
    (await emptyUnlessFetched(context)) ||
    (context.page.reportsDocuments && (await leaveStillDocument(context))),
  leave: leaveStillDocument,
  reset: resetPage,
};

/**
 * Removes the document and what it has left behind, as its load strategy has it.
 *
 * @returns whether the page came clean; if not, it is of no further use. Never rejects.
 */
export async function removeDocument(context: RenderContext, { clean }: LoadStrategy): Promise<boolean> {
  try {
    return await REMOVALS[clean](context);
  } catch {
    return false;
  }
}
