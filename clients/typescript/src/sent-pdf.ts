import { Buffer } from 'node:buffer';
import type { ConversionRequest, FillRequest } from './generated/schema.ts';

/** A PDF that exists already: its bytes, or a job of the account whose PDF is still kept. */
export type SentPdf =
  | { readonly pdf: Uint8Array; readonly jobId?: never }
  | { readonly jobId: string; readonly pdf?: never };

interface Named {
  /** Name of the PDF file. */
  readonly filename?: string | undefined;
}

/** A PDF, and what is to be made of it. */
export type ConversionInput = SentPdf &
  Named & { readonly options?: ConversionRequest['options'] | undefined };

/** A PDF with fields, and what they are filled in with. */
export type FillInput = SentPdf &
  Named & {
    /** By the names of fields. */
    readonly values: Readonly<Record<string, FillRequest['values'][string]>>;
    /** Whether the fields become a part of the pages. Default false. */
    readonly flatten?: boolean | undefined;
  };

export type FlattenInput = SentPdf & Named;

/** As a request has it: the bytes in base64. @throws TypeError unless there is exactly one of `pdf` and `jobId`. */
export function sentPdf<Input extends SentPdf>({ pdf, jobId, ...rest }: Input) {
  if ((pdf === undefined) === (jobId === undefined))
    throw new TypeError('Give exactly one of pdf, the bytes of a PDF, and jobId.');
  if (pdf === undefined) return { jobId, ...rest };
  const base64 = Buffer.from(pdf.buffer, pdf.byteOffset, pdf.byteLength).toString('base64');
  return { pdf: base64, ...rest };
}
