import type { MetadataOptions } from '../jobs/render-options.ts';
import type { JobEnd } from './job-end.ts';
import type { RenderRequest } from './renderer.ts';

export interface Finishing {
  readonly metadata?: MetadataOptions;
  /** A PDF of one square page without a background, to be drawn over every page at the size of its diagonal. */
  readonly watermark?: Uint8Array;
  /** Whose document it is. */
  readonly account: string;
  /** What is left of the job's time, in milliseconds. */
  readonly timeoutMs: number;
  /** Aborted when the job has ended otherwise. */
  readonly signal: AbortSignal;
}

/** What is done to a PDF after printing. Called only when there is something to do. */
export type Finish = (pdf: Uint8Array, finishing: Finishing) => Promise<Uint8Array>;

/** Counts the pages of a PDF, wherever that can be done without holding anybody up. */
export type CountPages = (
  pdf: Uint8Array,
  time: Pick<Finishing, 'account' | 'timeoutMs' | 'signal'>,
) => Promise<number>;

/** What is left of a job's time. */
export function timeLeft(end: JobEnd): Pick<Finishing, 'timeoutMs' | 'signal'> {
  return { timeoutMs: Math.max(1, end.deadline - Date.now()), signal: end.signal };
}

/** The PDF with the metadata and the watermark of its job; the same bytes when it has neither. */
export async function finishPdf(
  pdf: Uint8Array,
  { accountId: account, options: { metadata } }: RenderRequest,
  watermark: Uint8Array | undefined,
  end: JobEnd,
  finish: Finish,
): Promise<Uint8Array> {
  if (!metadata && !watermark) return pdf;
  return await finish(pdf, {
    ...(metadata && { metadata }),
    ...(watermark && { watermark }),
    account,
    ...timeLeft(end),
  });
}
