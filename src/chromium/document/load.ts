import type { RenderOptions } from '../../jobs/render-options.ts';
import type { RenderPage } from '../page/render-page.ts';
import type { JobDocument } from './job-document.ts';
import { navigateToDocument, replaceContent, rewritePage } from './load-html.ts';
import type { LoadStrategy } from './load-strategy.ts';
import { type EgressRecord, openUrl } from './load-url.ts';

type Load = (
  page: RenderPage,
  document: JobDocument,
  options: RenderOptions,
  egress: EgressRecord | undefined,
) => Promise<void>;

const LOADS: Readonly<Record<LoadStrategy['load'], Load>> = {
  'replace-content': replaceContent,
  rewrite: rewritePage,
  navigate: navigateToDocument,
  'open-url': openUrl,
};

/**
 * Loads a document as `strategy` has it; resolves when it has reached its milestone.
 *
 * @throws PlatenError when it cannot be loaded.
 */
export async function loadDocument(
  page: RenderPage,
  strategy: LoadStrategy,
  ...rest: [JobDocument, RenderOptions, EgressRecord | undefined]
): Promise<void> {
  page.lifecycle.begin();
  await LOADS[strategy.load](page, ...rest);
}
