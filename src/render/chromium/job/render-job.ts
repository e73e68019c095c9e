import { PlatenError } from '../../../infra/errors/registry.ts';
import { PDF } from '../../../infra/outputs/media-type.ts';
import { finishSteps, pageSettings, printSettings, waitHooks } from '../../options/all/stages.ts';
import { pageWindow } from '../../options/core/page-area.ts';
import { WINDOW_SIZE } from '../../options/core/window-size.ts';
import type { RenderRequest, RenderResult } from '../../renderer.ts';
import type { RenderContext } from '../contexts/render-context.ts';
import type { RenderPage } from '../page/render-page.ts';
import { loadDocument, type Outside } from './document/load.ts';
import { type LoadStrategy, loadStrategy } from './document/load-strategy.ts';
import { checkArrived } from './document/load-url.ts';
import { requireServices, usesServices } from './document/lost-services.ts';
import { removeDocument } from './document/remove-document.ts';
import { waitUntilDrawn } from './document/wait-until-drawn.ts';
import { type Finisher, JobFinisher } from './finish.ts';
import { loadMarginFonts, type MarginDeps, prepareMargins } from './margins/prepare-margins.ts';
import { printDocument } from './print/print-document.ts';
import { unlinkRelative } from './print/relative-links.ts';
import { printSheet, type SheetCache } from './print/sheet.ts';
import { requireNoViolation } from './report/fail-on.ts';
import { observePrint } from './report/observe-print.ts';
import { PageObserver } from './report/page-observer.ts';
import { takePicture } from './report/take-picture.ts';
import { RenderSteps, type StepDeps } from './steps.ts';
import { type WaitingJob, Waits } from './waits.ts';

/** One render: its request, the document as examined, and the signals that end it early. */
interface RenderJob extends StepDeps, WaitingJob {
  readonly request: RenderRequest;
}

/** Dependencies that all renders of a process share. */
export interface RenderDeps extends Outside, MarginDeps {
  readonly sheets: SheetCache;
  readonly finisher: Finisher;
  /** Languages that the browsers have hyphenation dictionaries of: the first parts of their tags. */
  readonly hyphenated: readonly string[];
}

interface RenderOutcome {
  readonly result: RenderResult;
  /** Whether the page is clean of the document and may be used again. */
  readonly clean: boolean;
}

/**
 * Runs the steps from a clean page to the finished PDF. Every step that waits for the browser ends with the job.
 *
 * @throws PlatenError, or the rejection of the browser's connection when that closes.
 */
export async function renderJob(
  context: RenderContext,
  job: RenderJob,
  deps: RenderDeps,
): Promise<RenderOutcome> {
  const { findings, end } = job;
  const over = new AbortController();
  const observer = findings && new PageObserver(context.page, job.document, findings, deps.egress);
  try {
    return await render(context, job, deps, AbortSignal.any([end.signal, over.signal]), observer);
  } catch (error) {
    observer?.stop();
    if (findings && job.request.options.report && end.error?.code !== 'CANCELLED') {
      await takePicture(context, findings, (page) => load(page, loadStrategy(job.document, page), job, deps));
    }
    throw error;
  } finally {
    observer?.stop();
    over.abort();
  }
}

/** @param signal aborted when the render is over. */
async function render(
  context: RenderContext,
  job: RenderJob,
  deps: RenderDeps,
  signal: AbortSignal,
  observer?: PageObserver,
): Promise<RenderOutcome> {
  const { page, browser } = context;
  const { request, document, end, collector, findings } = job;
  const { accountId, options, maxOutputBytes } = request;
  const steps = new RenderSteps(page, job);
  const finisher = new JobFinisher(deps.finisher, accountId, end);
  const sheets = {
    printSheet: (html: string, side: number) => printSheet(page, { html, side }, accountId, deps.sheets),
  };

  page.watch((error) => end.end(error));
  const services = usesServices(document) ? await end.race(browser.services.running()) : undefined;
  const ownSteps = await steps.compute(finishSteps(options, sheets));
  steps.ended('page');

  // Fetched while the document is loaded.
  const preparing = prepareMargins(request, document, deps, findings, signal);
  preparing.catch(() => undefined);
  const strategy = loadStrategy(document, page);
  const waits = new Waits(page, job, steps);
  await waits.until(
    document.settings.milestone,
    () => load(page, strategy, job, deps),
    () => strategy.load === 'replace-content' || page.lifecycle.documents > 0,
  );
  steps.ended('load');

  for (const { run } of waitHooks(options, 'insert')) await steps.watch(run({ page, end }));
  for (const { name, run } of waitHooks(options, 'wait'))
    await waits.until(name, () => run({ page, end: waits.end }));
  await waits.until('drawn', () => waitUntilDrawn(page, document, waits.end));
  const margins = await steps.watch(preparing);
  checkArrived(page, deps.egress, collector.startedAt);
  if (findings) requireNoViolation(findings, options.failOn);
  steps.ended('wait');

  await steps.watch(loadMarginFonts(page, margins));
  const links = await steps.compute(unlinkRelative(page, document));
  if (findings && links) findings.relativeLinks = links;
  const printed = await steps.compute(printDocument(page, margins.options, maxOutputBytes, finisher));
  observer?.stop();
  if (services) await requireServices(page, browser.services, services, steps);
  steps.ended('print');

  const doneToPdf = [...printed.steps, ...ownSteps];
  await observePrint(printed.pdf, {
    ...{ page, kind: document.kind, still: document.still, steps, finisher },
    ...{ options, findings, hyphenated: deps.hyphenated },
    finishSteps: doneToPdf,
  });
  // Not waited for. Restores the settings, since the options may have changed them and the page may have been made
  // taller.
  page.settings.want([]).catch(() => undefined);
  const removed = removeDocument(page, strategy);
  const pages = await steps.outside(finisher.countPages(printed.pdf));
  if (findings) requireNoViolation(findings, options.failOn);
  const bytes = await steps.outside(finisher.finish(printed.pdf, doneToPdf));
  if (bytes.byteLength > maxOutputBytes) throw new PlatenError('OUTPUT_TOO_LARGE');
  steps.ended('finish');

  const { report } = collector;
  if (findings) {
    findings.phases = report.phases;
    findings.pages = pages;
    findings.size = bytes.byteLength;
  }
  const result = { bytes, mediaType: PDF, pages, report, ...(options.report && { findings }) };
  return { result, clean: (await steps.last(removed)) && !waits.over };
}

/** Sets the page as the options require, and loads the document. */
async function load(
  page: RenderPage,
  strategy: LoadStrategy,
  { request, document }: RenderJob,
  deps: RenderDeps,
): Promise<void> {
  const { options } = request;
  const wanted = pageSettings(options);
  // An option may give the window another size.
  if (!document.still) {
    const value = pageWindow(printSettings(options), document.traits?.pageRules);
    wanted.unshift({ setting: WINDOW_SIZE, value, option: 'format' });
  }
  const settled = page.settings.want(wanted);
  // Commands to the process of a document run in the order in which they are sent. A navigation may lead to another
  // process, which takes over only settings that the first one has confirmed by then.
  if (strategy.load === 'navigate' || strategy.load === 'open-url') await settled;
  await Promise.all([settled, loadDocument(page, strategy, document, deps)]);
}
