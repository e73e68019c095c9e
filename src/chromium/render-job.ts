import { setTimeout as pause } from 'node:timers/promises';
import { PlatenError } from '../errors/registry.ts';
import type { ComputeTurn } from './compute-turn.ts';
import type { JobDocument } from './document/job-document.ts';
import { loadDocument, type Outside } from './document/load.ts';
import { loadStrategy } from './document/load-strategy.ts';
import { checkArrived } from './document/load-url.ts';
import { removeDocument } from './document/remove-document.ts';
import { waitForSelector } from './document/wait-for-selector.ts';
import { waitUntilDrawn } from './document/wait-until-drawn.ts';
import { type CountPages, type Finish, finishPdf, timeLeft } from './finish.ts';
import type { JobEnd } from './job-end.ts';
import type { RenderContext } from './pool/render-context.ts';
import { printPage, printSettings } from './print/print.ts';
import { type WatermarkCache, watermarkFor } from './print/watermark.ts';
import type { RenderedPdf, RenderPhase, RenderRequest } from './renderer.ts';

/** Times the phases of a render, one after another. */
export class PhaseTimer {
  /** Epoch milliseconds. */
  readonly startedAt = Date.now();
  readonly phases: Record<RenderPhase, number> = { page: 0, load: 0, wait: 0, print: 0, finish: 0 };
  #last = performance.now();

  /** Ends `phase`, which began when the one before it ended. */
  lap(phase: RenderPhase): void {
    const now = performance.now();
    this.phases[phase] += now - this.#last;
    this.#last = now;
  }
}

/** One render: what was ordered, the document as examined, and what ends it early. */
export interface RenderJob {
  readonly request: RenderRequest;
  readonly document: JobDocument;
  readonly end: JobEnd;
  readonly timer: PhaseTimer;
  /** Its part in the cores, of which it has one to begin with and none in the end. */
  readonly turn: ComputeTurn;
}

/** What all renders of a process share. */
export interface RenderParts extends Outside {
  readonly watermarks: WatermarkCache;
  readonly finish: Finish;
  readonly countPages: CountPages;
}

export interface RenderOutcome {
  readonly rendered: RenderedPdf;
  /** Whether the page came clean of the document and may be used again. */
  readonly clean: boolean;
}

/**
 * The steps from a clean page to the finished PDF. Every step that waits for the browser ends with the job.
 *
 * @throws PlatenError, or whatever the browser's connection rejects with when it goes.
 */
export async function renderJob(
  context: RenderContext,
  job: RenderJob,
  parts: RenderParts,
): Promise<RenderOutcome> {
  const { page } = context;
  const { request, document, end, timer, turn } = job;
  const { options } = request;

  page.watch((error) => end.end(error));
  const watermark = await turn.keep(end.race(watermarkFor(page, request, parts.watermarks)), page);
  timer.lap('page');

  const strategy = loadStrategy(document, options, page);
  await turn.watch(page, end.race(loadDocument(page, strategy, document, options, parts)));
  timer.lap('load');

  if (options.waitForSelector) await turn.watch(page, waitForSelector(page, options.waitForSelector, end));
  if (options.delayMs) await turn.watch(page, end.race(pause(options.delayMs)));
  await turn.watch(page, end.race(waitUntilDrawn(page, document, end)));
  checkArrived(page, parts.egress, timer.startedAt);
  timer.lap('wait');

  const printing = printPage(page, printSettings(options), request.maxOutputBytes);
  const printed = await turn.keep(end.race(printing), page);
  // Sent and not waited for: the page may have been made taller.
  page.setViewport().catch(() => undefined);
  timer.lap('print');

  const removed = removeDocument(context, strategy);
  const counting = parts.countPages(printed, { account: request.accountId, ...timeLeft(end) });
  const pages = await turn.keep(end.race(counting));
  const pdf = await turn.keep(end.race(finishPdf(printed, request, watermark, end, parts.finish)));
  if (pdf.byteLength > request.maxOutputBytes) throw new PlatenError('OUTPUT_TOO_LARGE');
  timer.lap('finish');
  return { rendered: { pdf, pages, phases: timer.phases }, clean: await turn.keepToTheEnd(removed) };
}
