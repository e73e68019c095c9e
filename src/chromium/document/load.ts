import type { RenderOptions } from '../../jobs/render-options.ts';
import type { AssetHeaders } from '../page/interceptor.ts';
import type { RenderPage } from '../page/render-page.ts';
import { namedHosts } from './document-traits.ts';
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

/** The headers for a document's assets: they go to the hosts that it names, or to the origin that it is at. */
function assetHeadersOf(
  { kind, source }: JobDocument,
  { assetHeaders: headers }: RenderOptions,
): AssetHeaders | undefined {
  if (!headers) return undefined;
  if (kind === 'html') {
    const hosts = namedHosts(source);
    return { headers, audience: [...hosts].sort(), allowed: ({ host }) => hosts.has(host) };
  }
  const origin = URL.parse(source)?.origin;
  return { headers, audience: [origin ?? ''], allowed: (asset) => asset.origin === origin };
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
  egress: EgressRecord | undefined,
): Promise<void> {
  page.lifecycle.begin();
  const assets = assetHeadersOf(document, options);
  if (strategy.clean !== 'empty') await page.credentials.begin(assets);
  if (assets) page.interceptor.addHeaders(assets);
  await LOADS[strategy.load](page, document, options, egress);
}
