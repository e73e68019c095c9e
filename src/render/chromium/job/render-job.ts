import { PlatenError } from '../../../infra/errors/registry.ts';
import { PDF } from '../../../infra/outputs/media-type.ts';
import type { RenderOptions } from '../../options/all/render-options.ts';
import { finishSteps, waitHooks } from '../../options/all/stages.ts';
import { type FinishStep, inOrder } from '../../pdf/finish-step.ts';
import type { RenderRequest, RenderResult } from '../../renderer.ts';
import { RENDER_PHASES, type RenderPhase } from '../../report/phases.ts';
import type { ContextLease } from '../contexts/context-lease.ts';
import type { CorePolicy, StepKind } from '../cpu/core-policy.ts';
import type { RenderPage } from '../page/render-page.ts';
import type { BrowserServices, RunningServices } from '../process/browser-services.ts';
import { loadWithOptions, type Outside } from './document/load.ts';
import { type LoadStrategy, loadStrategy } from './document/load-strategy.ts';
import { checkArrived } from './document/load-url.ts';
import { requireServices, usesServices } from './document/lost-services.ts';
import { removeDocument } from './document/remove-document.ts';
import { waitUntilDrawn } from './document/wait-until-drawn.ts';
import { type Finisher, JobFinisher } from './finish.ts';
import {
  loadMarginFonts,
  type MarginDeps,
  type PreparedMargins,
  prepareMargins,
} from './margins/prepare-margins.ts';
import { type PrintedDocument, printDocument } from './print/print-document.ts';
import { unlinkRelative } from './print/relative-links.ts';
import { printSheet, type SheetCache } from './print/sheet.ts';
import { requireConformance, requireNoViolation } from './report/fail-on.ts';
import { observePrint } from './report/observe-print.ts';
import { PageObserver } from './report/page-observer.ts';
import { takePicture } from './report/take-picture.ts';
import type { ReportCollector } from './report-collector.ts';
import { type WaitingRender, Waits } from './waits.ts';

/** One render: its request, the document as examined, and the signals that end it early. */
interface RenderJob extends Omit<WaitingRender, 'page' | 'core'> {
  readonly request: RenderRequest;
  readonly collector: ReportCollector;
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

/** What the steps of a render make for the steps after them. */
interface Made {
  /** The shared processes that ran at the beginning; undefined for a document that uses none. */
  readonly running: RunningServices | undefined;
  /** What options do to the PDF once it is printed. */
  readonly ownSteps: readonly FinishStep[];
  readonly preparing: Promise<PreparedMargins>;
  readonly strategy: LoadStrategy;
  readonly waits: Waits;
  readonly margins: PreparedMargins;
  readonly printed: PrintedDocument;
  readonly finishSteps: readonly FinishStep[];
  /** Whether the page is clean. */
  readonly removed: Promise<boolean>;
  readonly pages: number;
  readonly bytes: Uint8Array;
}

interface Render extends RenderJob, Omit<RenderDeps, 'finisher'>, Made {
  readonly page: RenderPage;
  readonly core: CorePolicy;
  readonly services: BrowserServices;
  readonly options: RenderOptions;
  readonly finisher: JobFinisher;
  readonly observer: PageObserver | undefined;
  /** Aborted when the render is over. */
  readonly signal: AbortSignal;
}

/**
 * A step of a render. Its kind says what it does with the render's core while it is waited for. A step without a kind is
 * done at once, or consists of such steps; one `beside` is begun here, and goes on while the next steps are run.
 */
type RenderStep =
  | { readonly makes?: never; readonly kind?: StepKind; run(render: Render): Promise<void> | void }
  | { [Name in keyof Made]: Making<Name> }[keyof Made];

interface Making<Name extends keyof Made> {
  readonly makes: Name;
  readonly kind?: StepKind | 'beside';
  run(render: Render): Made[Name] | Promise<Awaited<Made[Name]>>;
}

/** What happens between a clean page and the finished PDF, in this order. A phase ends with the last of its steps. */
const STEPS: Readonly<Record<RenderPhase, readonly RenderStep[]>> = {
  page: [
    { makes: 'running', run: findServices },
    { makes: 'ownSteps', kind: 'page', run: prepareFinish },
  ],
  load: [
    { makes: 'preparing', kind: 'beside', run: prepareMargins },
    { makes: 'strategy', run: ({ document, page }) => loadStrategy(document, page) },
    { makes: 'waits', run: (render) => new Waits(render) },
    { run: load },
  ],
  wait: [
    { run: insert },
    { run: waitForOptions },
    { run: ({ waits, page, document: d }) => waits.until('drawn', () => waitUntilDrawn(page, d, waits.end)) },
    { makes: 'margins', kind: 'wait', run: ({ preparing }) => preparing },
    { run: ({ page, egress, collector }) => checkArrived(page, egress, collector.startedAt) },
    { run: ({ findings, options }) => requireNoViolation(findings, options.failOn) },
  ],
  print: [
    { kind: 'wait', run: ({ page, margins }) => loadMarginFonts(page, margins) },
    { kind: 'page', run: ({ page, document, findings }) => unlinkRelative(page, document, findings) },
    { makes: 'printed', kind: 'page', run: print },
    { run: ({ observer }) => observer?.stop() },
    { kind: 'page', run: ({ page, services, running }) => requireServices(page, services, running) },
  ],
  finish: [
    { makes: 'finishSteps', run: stepsOf },
    { run: (render) => observePrint(render.printed.pdf, render) },
    { makes: 'removed', kind: 'beside', run: ({ page, strategy }) => removeDocument(page, strategy) },
    { makes: 'pages', kind: 'outside', run: ({ finisher, printed }) => finisher.countPages(printed.pdf) },
    { run: ({ findings, options }) => requireNoViolation(findings, options.failOn) },
    { makes: 'bytes', kind: 'outside', run: finish },
    { run: ({ findings, options }) => requireConformance(findings, options.conformance) },
  ],
};

/**
 * Runs the steps from a clean page to the finished PDF. Every step that waits for the browser ends with the job.
 *
 * @throws PlatenError, or the rejection of the browser's connection when that closes.
 */
export async function renderJob(
  lease: ContextLease,
  job: RenderJob,
  deps: RenderDeps,
): Promise<RenderOutcome> {
  const { findings, end, document, request } = job;
  const { page, core, services } = lease;
  const { accountId, options } = request;
  const over = new AbortController();
  const observer = findings && new PageObserver(page, document, findings, deps.egress);
  try {
    page.watch((error) => end.end(error));
    const finisher = new JobFinisher(deps.finisher, accountId, end);
    const signal = AbortSignal.any([end.signal, over.signal]);
    const given = { ...deps, ...job, page, core, services, options, finisher, observer, signal };
    return await runSteps({ ...given, ...({} as Made) });
  } catch (error) {
    observer?.stop();
    if (findings && options.report && end.error?.code !== 'CANCELLED') {
      const loadInto = (other: RenderPage) =>
        loadWithOptions(other, loadStrategy(document, other), document, { ...deps, options });
      await takePicture(lease, findings, loadInto);
    }
    throw error;
  } finally {
    observer?.stop();
    over.abort();
  }
}

async function runSteps(render: Render): Promise<RenderOutcome> {
  const { collector, core, findings, options } = render;
  for (const phase of RENDER_PHASES) {
    for (const { makes, kind, run } of STEPS[phase]) {
      let made: unknown = run(render);
      if (made instanceof Promise) {
        if (kind === 'beside') made.catch(() => undefined);
        else made = await (kind === undefined ? made : core.step(kind, made));
      }
      if (makes !== undefined) Object.assign(render, { [makes]: made });
    }
    collector.lap(phase);
  }
  const { bytes, pages, removed, waits } = render;
  const { report } = collector;
  if (findings) {
    findings.phases = report.phases;
    findings.pages = pages;
    findings.size = bytes.byteLength;
  }
  const result = { bytes, mediaType: PDF, pages, report, ...(options.report && { findings }) };
  return { result, clean: (await core.step('last', removed)) && !waits.over };
}

function findServices({ document, end, services }: Render): Promise<RunningServices> | undefined {
  return usesServices(document) ? end.race(services.running()) : undefined;
}

function prepareFinish({ page, options, request, sheets }: Render): Promise<FinishStep[]> {
  const { accountId } = request;
  return finishSteps(options, {
    printSheet: (html, size) => printSheet(page, { html, size }, accountId, sheets),
  });
}

function load({ page, options, document, egress, strategy, waits }: Render): Promise<void> {
  return waits.until(
    document.settings.milestone,
    () => loadWithOptions(page, strategy, document, { options, egress }),
    () => strategy.load === 'replace-content' || page.lifecycle.documents > 0,
  );
}

async function insert({ page, core, end, options }: Render): Promise<void> {
  for (const { run } of waitHooks(options, 'insert')) await core.step('wait', run({ page, end }));
}

async function waitForOptions({ page, waits, options }: Render): Promise<void> {
  for (const { name, run } of waitHooks(options, 'wait'))
    await waits.until(name, () => run({ page, end: waits.end }));
}

function print({ page, margins, request, finisher }: Render): Promise<PrintedDocument> {
  return printDocument(page, margins.options, request.maxOutputBytes, finisher);
}

function stepsOf({ printed, ownSteps }: Render): readonly FinishStep[] {
  const steps = [...printed.steps, ...ownSteps];
  return steps.length > 1 ? inOrder(steps) : steps;
}

async function finish({ finisher, printed, finishSteps, request, findings }: Render): Promise<Uint8Array> {
  const { pdf: bytes, faults } = await finisher.finish(printed.pdf, finishSteps);
  findings?.addPrintedFaults(faults);
  if (bytes.byteLength > request.maxOutputBytes) throw new PlatenError('OUTPUT_TOO_LARGE');
  return bytes;
}
