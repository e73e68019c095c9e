import type { RenderPage } from '../../page/render-page.ts';
import { emptyUnlessFetched, leaveStillDocument, resetPage } from '../../page/reset.ts';
import type { LoadStrategy } from './load-strategy.ts';

/** Each removal resolves to whether the page can be used again. */
const REMOVALS: Readonly<Record<LoadStrategy['clean'], (page: RenderPage) => Promise<boolean>>> = {
  // If its network events were not reported, a page that has fetched something is not used again.
  empty: async (page) =>
    (await emptyUnlessFetched(page)) || (page.reportsDocuments && (await leaveStillDocument(page))),
  leave: leaveStillDocument,
  reset: resetPage,
};

/**
 * Removes the document and everything it has left behind, by its load strategy. Restores the settings of the page as
 * well, since options may have changed them and the page may have been made taller.
 *
 * @returns whether the page is clean; if not, it cannot be used again. Never rejects.
 */
export async function removeDocument(page: RenderPage, { clean }: LoadStrategy): Promise<boolean> {
  // Not waited for.
  page.settings.want([]).catch(() => undefined);
  try {
    return await REMOVALS[clean](page);
  } catch {
    return false;
  }
}
