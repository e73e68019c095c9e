import { setTimeout as pause } from 'node:timers/promises';
import { PlatenError } from '../errors/registry.ts';
import type { RenderOptions } from '../jobs/render-options.ts';
import { type DocumentTraits, documentTraits, namedHosts } from './document/document-traits.ts';
import { navigateToDocument, rewriteDocument, writeDocument } from './document/load-html.ts';
import { type EgressRecord, MainRequest, openUrl } from './document/load-url.ts';
import { settle, settleFonts } from './document/settle.ts';
import { waitForSelector } from './document/wait-for-selector.ts';
import type { JobEnd } from './job-end.ts';
import type { Milestone } from './page/document-lifecycle.ts';
import { clearCookies, emptyPage, resetPage } from './page/reset.ts';
import type { PhaseTimer } from './phase-timer.ts';
import type { RenderContext } from './pool/render-context.ts';
import { printPage, printSettings } from './print/print.ts';
import type { RenderRequest } from './renderer.ts';

/** The document that is in the page now, and how to be rid of it. */
interface LoadedDocument {
  /** Runs no script: nothing moves once it is loaded. */
  readonly still: boolean;
  readonly traits: DocumentTraits | undefined;
  /** Resolves to false when the page could not be cleaned. */
  readonly clean: () => Promise<boolean>;
}

export interface PrintedDocument {
  readonly pdf: Buffer;
  readonly clean: () => Promise<boolean>;
}

const MILESTONES: Readonly<Record<NonNullable<RenderOptions['waitUntil']>, Milestone>> = {
  load: 'load',
  domcontentloaded: 'DOMContentLoaded',
  networkidle: 'networkIdle',
};

/** The steps from a clean page to the PDF: load, wait, print. Rejects when the job ends first. */
export async function printDocument(
  context: RenderContext,
  request: RenderRequest,
  job: {
    readonly end: JobEnd;
    readonly timer: PhaseTimer;
    readonly egress: EgressRecord | undefined;
    /** Of a document that is given as HTML. */
    readonly traits: DocumentTraits | undefined;
  },
): Promise<PrintedDocument> {
  const { options } = request;
  const { end, timer } = job;
  context.page.lifecycle.begin();
  const loaded = await end.race(load(context, request, job));
  timer.lap('load');
  if (options.waitForSelector) await waitForSelector(context.page, options.waitForSelector, end);
  if (options.delayMs) await end.race(pause(options.delayMs));
  await end.race(settleDocument(context, loaded, options));
  checkArrived(context, job.egress, timer.startedAt);
  timer.lap('wait');
  const pdf = await end.race(printPage(context.page, printSettings(options), request.maxOutputBytes));
  timer.lap('print');
  return { pdf, clean: loaded.clean };
}

function load(
  context: RenderContext,
  { source, options }: RenderRequest,
  {
    egress,
    traits,
  }: { readonly egress: EgressRecord | undefined; readonly traits: DocumentTraits | undefined },
): Promise<LoadedDocument> {
  return source.kind === 'url'
    ? loadUrl(context, source.url, options, egress)
    : loadHtml(context, { html: source.html, traits: traits ?? documentTraits(source.html) }, options);
}

async function loadHtml(
  context: RenderContext,
  { html, traits }: { readonly html: string; readonly traits: DocumentTraits },
  options: RenderOptions,
): Promise<LoadedDocument> {
  const { page } = context;
  const scriptEnabled = options.javascriptEnabled !== false;
  const still = !(traits.scripted && scriptEnabled);
  if (still && !traits.lasting && !options.csp && !options.assetHeaders) {
    await Promise.all([
      page.setScriptEnabled(false),
      writeDocument(page, html, traits.loads && options.waitUntil !== 'domcontentloaded'),
    ]);
    return { still, traits, clean: () => emptyOf(context, traits) };
  }
  const from = milestone(options);
  if (page.pristine && from !== 'networkIdle' && !traits.lasting && !options.csp && !options.assetHeaders) {
    page.pristine = false;
    await page.setScriptEnabled(scriptEnabled);
    await rewriteDocument(page, html, from);
    return { still, traits, clean: () => resetPage(context) };
  }
  page.pristine = false;
  if (options.assetHeaders) {
    const hosts = namedHosts(html);
    page.interceptor.addHeaders({ headers: options.assetHeaders, allowed: (url) => hosts.has(url.host) });
  }
  const [, loaderId] = await Promise.all([
    page.setScriptEnabled(scriptEnabled),
    navigateToDocument(page, { html, csp: options.csp }),
  ]);
  await page.lifecycle.until(from, loaderId);
  return { still, traits, clean: () => resetPage(context) };
}

async function loadUrl(
  context: RenderContext,
  url: string,
  options: RenderOptions,
  egress: EgressRecord | undefined,
): Promise<LoadedDocument> {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) throw new PlatenError('INVALID_URL');
  const { page } = context;
  page.pristine = false;
  const { origin } = new URL(url);
  const scriptEnabled = options.javascriptEnabled !== false;
  if (options.assetHeaders) {
    page.interceptor.addHeaders({
      headers: options.assetHeaders,
      allowed: (asset) => asset.origin === origin,
    });
  }
  if (options.csp) page.interceptor.addPolicy(options.csp);
  const request = new MainRequest(page, egress);
  try {
    const [, loaderId] = await Promise.all([
      page.setScriptEnabled(scriptEnabled),
      openUrl(page, url, request),
    ]);
    await page.lifecycle.until(milestone(options), loaderId);
  } finally {
    request.stop();
  }
  return { still: !scriptEnabled, traits: undefined, clean: () => resetPage(context) };
}

/** Waits until what a person would see is drawn, in the document that is there in the end. */
async function settleDocument(
  { page }: RenderContext,
  { still, traits }: LoadedDocument,
  options: RenderOptions,
): Promise<void> {
  const waitForLoads = options.waitUntil !== 'domcontentloaded';
  if (still && traits && !traits.lasting) {
    if (waitForLoads && traits.webFonts) await settleFonts(page);
    return;
  }
  for (;;) {
    const { documents } = page.lifecycle;
    try {
      await settle(page, {
        waitForLoads,
        draws: traits?.draws ?? !still,
        observes: traits?.observes ?? !still,
      });
      await page.lifecycle.departure.over();
      if (page.lifecycle.documents === documents) return;
    } catch (error) {
      // Its world is gone together with the document; the news of the next one may still be on its way.
      await pause(20);
      if (page.lifecycle.documents === documents) throw error;
    }
    await page.lifecycle.until(milestone(options));
  }
}

/** @throws PlatenError when the document has led the page to an address that cannot be loaded. */
function checkArrived({ page }: RenderContext, egress: EgressRecord | undefined, since: number): void {
  const { unreachableUrl } = page.lifecycle;
  if (unreachableUrl === undefined) return;
  const hostname = URL.canParse(unreachableUrl) ? new URL(unreachableUrl).hostname : unreachableUrl;
  if (egress?.wasBlocked(hostname, since)) {
    throw new PlatenError('URL_BLOCKED', `The document leads to ${hostname}, which may not be reached.`);
  }
  throw new PlatenError('URL_UNREACHABLE', `The document leads to ${hostname}, which cannot be loaded.`);
}

function milestone(options: RenderOptions): Milestone {
  return MILESTONES[options.waitUntil ?? 'load'];
}

async function emptyOf(context: RenderContext, traits: DocumentTraits): Promise<boolean> {
  emptyPage(context.page);
  if (traits.loads) await clearCookies(context);
  return true;
}
