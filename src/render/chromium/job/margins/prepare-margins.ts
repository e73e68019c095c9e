import type { AssetClient } from '../../../../infra/egress/asset-client.ts';
import type { EgressRecord } from '../../../../infra/egress/egress-record.ts';
import { given, type RenderOptions } from '../../../options/all/render-options.ts';
import { MARGIN_TEMPLATES } from '../../../options/core/margin-templates.ts';
import { displayHeaderFooter } from '../../../options/displayHeaderFooter.ts';
import type { RenderRequest } from '../../../renderer.ts';
import type { Findings } from '../../../report/findings.ts';
import type { RenderPage } from '../../page/render-page.ts';
import { assetHeadersOf } from '../document/asset-headers.ts';
import type { JobDocument } from '../document/job-document.ts';
import { originsInMarkup, originsInTemplate } from '../document/written-origins.ts';
import { fillUrl } from './document-url.ts';
import { inlineAssets } from './inline-assets.ts';
import { MarginAssets } from './margin-assets.ts';
import { MarginMarkup } from './margin-markup.ts';

/** Time for everything that headers and footers refer to, in milliseconds. */
const FETCH_MS = 8000;
/** Google Fonts and others send fonts that the browser named here can show. */
const USER_AGENT =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/153.0.0.0 Safari/537.36';

export interface MarginDeps {
  /** Absent where there is no network. */
  readonly assets?: AssetClient | undefined;
  readonly egress: EgressRecord | undefined;
}

export interface PreparedMargins {
  /** The options of the render, with the templates as they are printed. */
  readonly options: RenderOptions;
  /** The `data:` addresses of their fonts. */
  readonly fonts: readonly string[];
}

interface MarginJob extends MarginDeps {
  readonly request: Pick<RenderRequest, 'options' | 'written'>;
  readonly document: JobDocument;
  readonly findings?: Findings | undefined;
  /** Ends the fetching; what has not come by then is left out. */
  readonly signal: AbortSignal;
}

type TemplateName = (typeof MARGIN_TEMPLATES)[number];

/**
 * Prepares the templates of headers and footers for the print: with what they refer to, and without the made-up address
 * of the document.
 *
 * @throws PlatenError VALIDATION for a template with too many tags.
 */
export async function prepareMargins(render: MarginJob): Promise<PreparedMargins> {
  const { request, document, assets: client, egress, findings, signal } = render;
  const { options, written = options } = request;
  const asTheyAre = { options, fonts: [] };
  if (!given(options)(displayHeaderFooter)) return asTheyAre;
  const templates = MARGIN_TEMPLATES.flatMap((name): [TemplateName, string][] => {
    const text = options[name];
    return text && MarginMarkup.isNotable(text) ? [[name, text]] : [];
  });
  if (templates.length === 0) return asTheyAre;
  const { kind, source, settings } = document;
  const base = kind === 'url' ? source : settings.baseUrl;
  const assets = new MarginAssets({
    client,
    egress,
    findings,
    blocked: settings.blocked,
    headersFor: headersFor(document, written),
    signal: AbortSignal.any([signal, AbortSignal.timeout(FETCH_MS)]),
  });
  const prepared = templates.map(async ([name, text]) => {
    const markup = new MarginMarkup(name, text);
    if (kind === 'html') fillUrl(markup, settings.baseUrl ?? '');
    await inlineAssets(markup, assets, base);
    return [name, markup.text] as const;
  });
  const changed = Object.fromEntries(await Promise.all(prepared));
  return { options: { ...options, ...changed }, fonts: [...assets.fonts] };
}

/** As for the assets of the document: asset headers go to the origins that the caller wrote, and to no redirect's. */
function headersFor(
  document: JobDocument,
  written: RenderOptions,
): (url: URL, first: URL) => Readonly<Record<string, string>> {
  const { userAgent = USER_AGENT, language, assetOrigins } = document.settings;
  const own = { 'user-agent': userAgent, ...(language && { 'accept-language': language }) };
  const secret = assetHeadersOf(document);
  if (secret === undefined) return () => own;
  const fields = Object.fromEntries(
    Object.entries(secret.headers).map(([name, value]) => [name.toLowerCase(), value]),
  );
  const originsIn = document.template === undefined ? originsInMarkup : originsInTemplate;
  const texts = assetOrigins ? [] : MARGIN_TEMPLATES.map((name) => written[name] ?? '');
  const origins = new Set(texts.flatMap((text) => [...originsIn(text)]));
  return (url, first) => {
    const isNamed = secret.allowed(url) || origins.has(url.origin);
    return isNamed && url.origin === first.origin ? { ...own, ...fields } : own;
  };
}

/** Runs in the document. It keeps the fonts for as long as the document is there. */
const LOAD_FONTS = `async (addresses) => {
  globalThis.marginFonts = addresses.map((address) => new FontFace('margin', 'url("' + address + '")'));
  await Promise.allSettled(marginFonts.map((font) => font.load()));
}`;

/**
 * Loads the fonts of headers and footers in the page. Chromium prints these at once, and so without a font that has to
 * be loaded first, even from its own address; one that is in the memory of the process is there at once.
 */
export async function loadMarginFonts(page: RenderPage, { fonts }: PreparedMargins): Promise<void> {
  if (fonts.length > 0) await page.runIsolated(LOAD_FONTS, fonts);
}
