/** The program of a finisher's process: applies steps to a document, or reads from it; one document at a time. */
import { ParseSpeeds, PDFDocument } from '@cantoo/pdf-lib';
import { serve } from '../../infra/sandbox/serve.ts';
import type { AccessibilityFault } from '../report/accessibility.ts';
import type { SealCall } from '../seal/read-cms.ts';
import type { GatherCall } from '../seal/revocation/gather.ts';
import { destinationsOf } from './destinations.ts';
import type { FinishedPdf, FinishStep } from './finish-step.ts';
import { readPages } from './read-pages.ts';
import type { SentTerms } from './sent/convert-sent.ts';
import { RefusedPdf, refusalOf } from './sent/refusal.ts';

export type FinishCall =
  | ({ readonly pdf: Uint8Array } & (
      | {
          /** The steps applied to the document, in this order. */
          readonly steps: readonly FinishStep[];
          /** Of a PDF that somebody has sent; absent for one that Chromium has printed. */
          readonly sent?: SentTerms | undefined;
        }
      | { readonly read: keyof typeof readers }
      | {
          /** When it is, in milliseconds since 1970. */
          readonly validateAt: number;
        }
    ))
  | SealCall
  | GatherCall;

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
  if ('answers' in call) return (await import('../seal/revocation/gather.ts')).gatherValidation(call);
  if ('read' in call) return readers[call.read](await load(call.pdf, { ignoreEncryption: true }));
  if ('validateAt' in call)
    return await (await import('./sent/validate-sent.ts')).validateSent(call.pdf, call.validateAt);
  if (call.sent === undefined) {
    return await apply(call.steps, call.pdf, undefined).catch((thrown: unknown) => {
      if (!(thrown instanceof RefusedPdf)) throw thrown;
      return { refusal: refusalOf(thrown) };
    });
  }
  const { convertSent } = await import('./sent/convert-sent.ts');
  const { pdf, sent, steps } = call;
  return await convertSent(pdf, sent, steps, (document) => apply(steps, pdf, document));
});

/** @param opened the document of the file, if it has been read already: then it is written anew, also without a step. */
async function apply(
  steps: readonly FinishStep[],
  pdf: Uint8Array,
  opened: PDFDocument | undefined,
): Promise<FinishedPdf> {
  const faults: AccessibilityFault[] = [];
  let file = pdf;
  let document = opened;
  for (const { step, argument } of steps) {
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
  return { pdf: file, faults };
}

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
