import type { PdfFinisher } from '../../pdf/finish.ts';
import type { FinishedPdf, FinishStep } from '../../pdf/finish-step.ts';
import type { PrintedPages } from '../../report/print-facts.ts';
import type { CancelScope } from '../cancel-scope.ts';
import type { PrintReader } from './print/print-document.ts';

/** Changes and reads PDFs after printing, without blocking other renders. */
export type Finisher = Omit<PdfFinisher, 'close'>;

/** The finisher as used by one job: for its account, and for no longer than the job's time left. */
export class JobFinisher implements PrintReader {
  readonly #finisher: Finisher;
  readonly #account: string;
  readonly #end: CancelScope;

  constructor(finisher: Finisher, account: string, end: CancelScope) {
    this.#finisher = finisher;
    this.#account = account;
    this.#end = end;
  }

  countPages(pdf: Uint8Array): Promise<number> {
    return this.#finisher.countPages(pdf, this.#permit);
  }

  destinations(pdf: Uint8Array): Promise<Readonly<Record<string, number>>> {
    return this.#finisher.destinations(pdf, this.#permit);
  }

  printedPages(pdf: Uint8Array): Promise<PrintedPages> {
    return this.#finisher.printedPages(pdf, this.#permit);
  }

  /** The PDF after `steps`, with the same bytes when there are none, and what is still wrong with it. */
  finish(pdf: Uint8Array, steps: readonly FinishStep[]): Promise<FinishedPdf> {
    return this.#finisher.finish(pdf, { steps, ...this.#permit });
  }

  get #permit() {
    const { deadline, signal } = this.#end;
    return { account: this.#account, timeoutMs: Math.max(1, deadline - Date.now()), signal };
  }
}
