/** The program of a finisher's process: applies steps to a document, or reads from it; one document at a time. */
import { ParseSpeeds, PDFDocument } from '@cantoo/pdf-lib';
import { serve } from '../../infra/sandbox/serve.ts';
import { destinationsOf } from './destinations.ts';
import type { FinishStep } from './finish-step.ts';
import { readPages } from './read-pages.ts';

export type FinishCall = { readonly pdf: Uint8Array } & (
  | {
      /** The steps applied to the document, in this order. */
      readonly steps: readonly FinishStep[];
    }
  | { readonly read: keyof typeof readers }
);

/** The values that can be read from a document. */
const readers = {
  pages: (document: PDFDocument) => document.getPageCount(),
  destinations: destinationsOf,
  printed: readPages,
};

interface StepModule {
  default(document: PDFDocument, argument: unknown): void | Promise<void>;
}

serve<FinishCall>(async ({ pdf, ...call }) => {
  const document = await PDFDocument.load(pdf, {
    updateMetadata: false,
    parseSpeed: ParseSpeeds.Fastest,
    ...('read' in call && { ignoreEncryption: true }),
  });
  if ('read' in call) return readers[call.read](document);
  for (const { step, argument } of call.steps) {
    const module: StepModule = await import(`./steps/${step}.ts`);
    await module.default(document, argument);
  }
  return document.save({
    // Object streams would make the file smaller, but saving would take half as long again.
    useObjectStreams: false,
    updateFieldAppearances: false,
    addDefaultPage: false,
    objectsPerTick: Number.POSITIVE_INFINITY,
  });
});
