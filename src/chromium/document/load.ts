import type { RenderOptions } from '../../jobs/render-options.ts';
import type { AssetHeaders } from '../page/interceptor.ts';
import type { RenderPage } from '../page/render-page.ts';
import type { JobDocument } from './job-document.ts';
import { navigateToDocument, replaceContent, rewritePage } from './load-html.ts';
import type { LoadStrategy } from './load-strategy.ts';
import { type EgressRecord, openUrl } from './load-url.ts';
import { originsInMarkup, originsInTemplate } from './written-origins.ts';

type Load = (
  page: RenderPage,
  document: JobDocument,
  options: RenderOptions,
  outside: Outside,
) => Promise<void>;

/** What documents come through. */
export interface Outside {
  readonly egress: EgressRecord | undefined;
}

const LOADS: Readonly<Record<LoadStrategy['load'], Load>> = {
  'replace-content': replaceContent,
  rewrite: rewritePage,
  navigate: navigateToDocument,
  'open-url': openUrl,
};

/** The headers for a document's assets, which go only to origins that the caller wrote. */
function assetHeadersOf(
  document: JobDocument,
  { assetHeaders: headers, assetOrigins }: RenderOptions,
): AssetHeaders | undefined {
  if (!headers) return undefined;
  const origins = assetOrigins ? originsOf(assetOrigins) : writtenOrigins(document);
  return { headers, audience: [...origins].sort(), allowed: ({ origin }) => origins.has(origin) };
}

function writtenOrigins({ kind, source, template }: JobDocument): ReadonlySet<string> {
  if (kind === 'url') return originsOf([source]);
  return template === undefined ? originsInMarkup(source) : originsInTemplate(template);
}

function originsOf(addresses: readonly string[]): ReadonlySet<string> {
  return new Set(addresses.flatMap((address) => URL.parse(address)?.origin ?? []));
}

/**
 * Loads a document as `strategy` has it; resolves when it has reached its milestone.
 *
 * @throws PlatenError when it cannot be loaded.
 */
export async function loadDocument(
  page: RenderPage,
  strategy: LoadStrategy,
  document: JobDocument,
  options: RenderOptions,
  outside: Outside,
): Promise<void> {
  // What is told when the telling begins is of the document before.
  await page.setDocumentEvents(page.drawsFrames || strategy.clean !== 'empty');
  page.lifecycle.begin();
  const assets = assetHeadersOf(document, options);
  if (strategy.clean !== 'empty') await page.credentials.begin(assets);
  if (assets) page.interceptor.addHeaders(assets);
  await LOADS[strategy.load](page, document, options, outside);
}
