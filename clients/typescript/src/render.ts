import type { RenderRequest } from './generated/schema.ts';

type Source =
  | { readonly html: string; readonly url?: never; readonly templateId?: never }
  | { readonly url: string; readonly html?: never; readonly templateId?: never }
  | {
      readonly templateId: string;
      readonly templateVersionId?: string;
      readonly data?: Record<string, unknown>;
      readonly html?: never;
      readonly url?: never;
    };

/** A document, from exactly one source, and how it is to be printed. */
export type RenderInput = Source & Pick<RenderRequest, 'filename' | 'options'>;

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
