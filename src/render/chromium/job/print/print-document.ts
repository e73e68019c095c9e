import { given, type RenderOptions } from '../../../options/all/render-options.ts';
import { printHooks, printSettings } from '../../../options/all/stages.ts';
import { EMULATED_MEDIA } from '../../../options/core/emulated-media.ts';
import { asPrinted } from '../../../options/core/lengths.ts';
import type { Given, PrintSettings, PrintStage } from '../../../options/core/option.ts';
import { WINDOW_SIZE } from '../../../options/core/window-size.ts';
import { shrinkToFit } from '../../../options/shrinkToFit.ts';
import { singlePage } from '../../../options/singlePage.ts';
import type { FinishStep } from '../../../pdf/finish-step.ts';
import { trimPages } from '../../../pdf/trim-pages.ts';
import { SCRIPT } from '../../page/page-settings.ts';
import type { RenderPage } from '../../page/render-page.ts';
import { reachingEdges } from './full-bleed.ts';
import { HIDE } from './hide-document.ts';
import { printPage } from './print.ts';

/** Points per inch. */
const POINTS = 72;

/** A printed PDF, and the steps that have to be applied to it first. */
export interface PrintedDocument {
  readonly pdf: Buffer;
  readonly steps: readonly FinishStep[];
}

/** Reads a PDF. Either method may wait for a process of the finisher. */
export interface PrintReader {
  countPages(pdf: Uint8Array): Promise<number>;
  destinations(pdf: Uint8Array): Promise<Readonly<Record<string, number>>>;
}

/** @param maxBytes of each PDF. @throws PlatenError OUTPUT_TOO_LARGE, PAGE_RANGE_INVALID, or an option's error. */
export async function printDocument(
  page: RenderPage,
  options: RenderOptions,
  maxBytes: number,
  reader: PrintReader,
): Promise<PrintedDocument> {
  const printing = new Printing(page, options, maxBytes, reader);
  for (const hook of printHooks(options, 'beforePrint')) await hook(printing);
  await printing.print();
  for (const hook of printHooks(options, 'afterPrint')) await hook(printing);
  return printing;
}

/** Runs in the document: after two animation frames, observers have been notified, and what they request has been drawn. */
const TWO_FRAMES = `async () => {
  const frame = () => Promise.race([
    new Promise((resolve) => requestAnimationFrame(resolve)),
    new Promise((resolve) => setTimeout(resolve, 500)),
  ]);
  await frame();
  await frame();
}`;

class Printing implements PrintStage, PrintedDocument {
  readonly page: RenderPage;
  readonly given: Given;
  settings: PrintSettings;
  readonly steps: FinishStep[] = [];
  readonly #maxBytes: number;
  readonly #reader: PrintReader;
  #pdf: Buffer | undefined;
  #hidden = false;

  constructor(page: RenderPage, options: RenderOptions, maxBytes: number, reader: PrintReader) {
    this.page = page;
    this.given = given(options);
    this.settings = printSettings(options);
    this.#maxBytes = maxBytes;
    this.#reader = reader;
  }

  /** @throws Error before the document has been printed. */
  get pdf(): Buffer {
    if (this.#pdf === undefined) throw new Error('nothing has been printed yet');
    return this.#pdf;
  }

  async print(): Promise<void> {
    this.#pdf = await this.#printed(this.settings);
  }

  pages(): Promise<number> {
    return this.#reader.countPages(this.pdf);
  }

  destinations(): Promise<Readonly<Record<string, number>>> {
    return this.#reader.destinations(this.pdf);
  }

  async layOut(size: { readonly width: number; readonly height: number }): Promise<void> {
    const { settings } = this.page;
    const emulated = settings.get(EMULATED_MEDIA);
    const { deviceScaleFactor = 1 } = settings.get(WINDOW_SIZE) ?? {};
    await Promise.all([
      settings.set(EMULATED_MEDIA, { ...emulated, media: emulated.media ?? 'print' }),
      settings.set(WINDOW_SIZE, { ...size, deviceScaleFactor }),
    ]);
    if (this.page.drawsFrames && settings.get(SCRIPT)) await this.page.runIsolated(TWO_FRAMES);
  }

  async printMargins(settings: PrintSettings): Promise<Uint8Array> {
    if (!this.#hidden) await this.page.runIsolated(HIDE);
    this.#hidden = true;
    const all = { ...this.settings, ...settings, generateTaggedPDF: false, generateDocumentOutline: false };
    return await this.#printed(all);
  }

  async #printed(settings: PrintSettings): Promise<Buffer> {
    const asItIs = this.given(singlePage) || this.given(shrinkToFit) === false;
    const sent = asItIs ? settings : reachingEdges(settings);
    const pdf = await printPage(this.page, sent, this.#maxBytes);
    const { paperWidth = 0, paperHeight = 0, landscape } = settings;
    const paper = asPrinted([paperWidth, paperHeight], landscape);
    trimPages(pdf, paper[0] * POINTS, paper[1] * POINTS);
    return pdf;
  }

  finishBy(step: FinishStep): void {
    this.steps.push(step);
  }
}
