/** The program of a finisher's process: applies steps to a document, or reads from it; one document at a time. */
import { ParseSpeeds, PDFDocument } from '@cantoo/pdf-lib';
import { serve } from '../../infra/sandbox/serve.ts';
import type { AccessibilityFault } from '../report/accessibility.ts';
import type { SealCall } from '../seal/read-cms.ts';
import { destinationsOf } from './destinations.ts';
import type { FinishedPdf, FinishStep } from './finish-step.ts';
import { readPages } from './read-pages.ts';

export type FinishCall =
  | ({ readonly pdf: Uint8Array } & (
      | {
          /** The steps applied to the document, in this order. */
          readonly steps: readonly FinishStep[];
        }
      | { readonly read: keyof typeof readers }
    ))
  | SealCall;

/** The values that can be read from a document. */
const readers = {
  pages: (document: PDFDocument) => document.getPageCount(),
  destinations: destinationsOf,
  printed: readPages,
};

/** What a step has found that only the author of the document can mend, if it looks for that. */
type Faults = readonly AccessibilityFault[] | undefined;

/** A step changes the document, or the bytes of its file: those steps come last. */
type StepModule =
  | { default(document: PDFDocument, argument: unknown): Faults | Promise<Faults> }
  | { changeFile(file: Uint8Array, argument: unknown): Promise<Uint8Array> };

serve<FinishCall>(async (call) => {
  if ('cms' in call) return (await import('../seal/read-cms.ts')).readCms(call);
  const { pdf } = call;
  if ('read' in call) return readers[call.read](await load(pdf, { ignoreEncryption: true }));
  const faults: AccessibilityFault[] = [];
  let file = pdf;
  let document: PDFDocument | undefined;
  for (const { step, argument } of call.steps) {
    const module: StepModule = await import(`./steps/${step}.ts`);
    if ('changeFile' in module) {
      file = await module.changeFile(document === undefined ? file : await save(document), argument);
      document = undefined;
    } else {
      document ??= await load(file);
      faults.push(...((await module.default(document, argument)) ?? []));
    }
  }
  if (document !== undefined) file = await save(document);
  return { pdf: file, faults } satisfies FinishedPdf;
});

function load(pdf: Uint8Array, more: { readonly ignoreEncryption?: boolean } = {}): Promise<PDFDocument> {
  return PDFDocument.load(pdf, { updateMetadata: false, parseSpeed: ParseSpeeds.Fastest, ...more });
}

function save(document: PDFDocument): Promise<Uint8Array> {
  return document.save({
    // Object streams would make the file smaller, but saving would take half as long again.
    useObjectStreams: false,
    updateFieldAppearances: false,
    addDefaultPage: false,
    objectsPerTick: Number.POSITIVE_INFINITY,
  });
}
