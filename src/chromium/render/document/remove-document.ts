import type { RenderPage } from '../../contexts/page/render-page.ts';
import { emptyUnlessFetched, leaveStillDocument, resetPage } from '../../contexts/page/reset.ts';
import type { LoadStrategy } from './load-strategy.ts';

/** Each resolves to whether the page can be used again. */
const REMOVALS: Readonly<Record<LoadStrategy['clean'], (page: RenderPage) => Promise<boolean>>> = {
  // Where it went with what it has fetched was not told: such a page is not used again.
  empty: async (page) =>
    (await emptyUnlessFetched(page)) || (page.reportsDocuments && (await leaveStillDocument(page))),
  leave: leaveStillDocument,
  reset: resetPage,
};

/**
 * Removes the document and what it has left behind, as its load strategy has it.
 *
 * @returns whether the page came clean; if not, it is of no further use. Never rejects.
 */
export async function removeDocument(page: RenderPage, { clean }: LoadStrategy): Promise<boolean> {
  try {
    return await REMOVALS[clean](page);
  } catch {
    return false;
  }
}
