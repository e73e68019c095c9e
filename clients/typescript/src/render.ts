import type { RenderRequest } from './generated/schema.ts';

type Source =
  | { readonly html: string; readonly url?: never; readonly templateId?: never }
  | { readonly url: string; readonly html?: never; readonly templateId?: never }
  | {
      readonly templateId: string;
      readonly templateVersionId?: string | undefined;
      /** Values of the template's variables, which become JSON: an object of any type. */
      readonly data?: object | undefined;
      readonly html?: never;
      readonly url?: never;
    };

/** A document, from exactly one source, and how it is to be printed. */
export type RenderInput = Source & {
  /** Name of the PDF file. */
  readonly filename?: string | undefined;
  readonly options?: RenderRequest['options'] | undefined;
};

/** A document that is rendered in the background. */
export type AsyncRenderInput = RenderInput & {
  /** Where a signed callback goes when the render has ended; plans professional and business. */
  readonly webhookUrl?: string | undefined;
};

/** As a request has it: `data` is whatever becomes a JSON object. */
export function requestOf<Input extends RenderInput>(input: Input) {
  return input as Input & { data?: Record<string, unknown> };
}

export interface RenderedPdf {
  readonly jobId: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly pages: number;
  readonly processingTimeMs: number;
  /** When the service stops keeping the PDF. */
  readonly expiresAt: Date | undefined;
}

/** @param prefix what the service's own headers begin with. */
export function renderedPdf(bytes: Uint8Array<ArrayBuffer>, headers: Headers, prefix: string): RenderedPdf {
  const expiresAt = headers.get(`${prefix}Expires-At`);
  return {
    jobId: headers.get(`${prefix}Job-Id`) ?? '',
    bytes,
    pages: Number(headers.get(`${prefix}Pages`)),
    processingTimeMs: Number(headers.get(`${prefix}Processing-Time-Ms`)),
    expiresAt: expiresAt ? new Date(expiresAt) : undefined,
  };
}
