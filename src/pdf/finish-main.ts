/** What runs in a finisher's process: metadata and watermark, or the counting of pages, one document at a time. */
import { ParseSpeeds, PDFDocument } from '@cantoo/pdf-lib';
import type { MetadataOptions } from '../jobs/render-options.ts';
import { serve } from '../sandbox/serve.ts';
import { drawWatermark } from './draw-watermark.ts';
import { writeMetadata } from './metadata.ts';

export interface FinishCall {
  readonly pdf: Uint8Array;
  /** Only the number of its pages is asked for. */
  readonly count?: true;
  readonly metadata?: MetadataOptions | undefined;
  readonly watermark?: Uint8Array | undefined;
}

serve<FinishCall>(async ({ pdf, count, metadata, watermark }) => {
  const document = await PDFDocument.load(pdf, {
    updateMetadata: false,
    parseSpeed: ParseSpeeds.Fastest,
    ...(count && { ignoreEncryption: true }),
  });
  if (count) return document.getPageCount();
  if (metadata !== undefined) writeMetadata(document, metadata);
  if (watermark !== undefined) await drawWatermark(document, watermark);
  return document.save({
    // Object streams would make the file smaller and the saving half as slow again.
    useObjectStreams: false,
    updateFieldAppearances: false,
    addDefaultPage: false,
    objectsPerTick: Number.POSITIVE_INFINITY,
  });
});
