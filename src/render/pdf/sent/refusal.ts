/** Why a PDF that was sent is not converted, or a step is not done with a PDF: each is an error code of the registry. */
export type RefusalCode =
  | 'PDF_INVALID'
  | 'PDF_ENCRYPTED'
  | 'PDF_SIGNED'
  | 'FORM_FIELD_UNKNOWN'
  | 'FORM_VALUE_INVALID'
  | 'DOCUMENT_LIMIT'
  | 'CONFORMANCE_FAILED'
  | 'OUTPUT_TOO_LARGE'
  | 'SEAL_FAILED';

/** What a finisher's process says of a PDF that it does not convert. */
export interface Refusal {
  readonly code: RefusalCode;
  /** For the caller: a sentence. */
  readonly message: string;
}

/** Ends the work on a PDF that what was asked for cannot be done with. */
export class RefusedPdf extends Error implements Refusal {
  readonly code: RefusalCode;

  constructor(code: RefusalCode, message: string) {
    super(message);
    this.name = 'RefusedPdf';
    this.code = code;
  }
}

/** The refusal that an error of a conversion stands for: whatever a PDF makes go wrong is the fault of the PDF. */
export function refusalOf(thrown: unknown): Refusal {
  if (thrown instanceof RefusedPdf) return { code: thrown.code, message: thrown.message };
  if (thrown instanceof RangeError && /call stack/.test(thrown.message))
    return { code: 'PDF_INVALID', message: 'The PDF cannot be read: its objects are nested too deeply.' };
  if ((thrown as NodeJS.ErrnoException | undefined)?.code === 'ERR_BUFFER_TOO_LARGE')
    return { code: 'DOCUMENT_LIMIT', message: 'The PDF has a stream of more than 64 MiB: split its pages.' };
  const why = thrown instanceof Error ? thrown.message : String(thrown);
  return { code: 'PDF_INVALID', message: `The PDF cannot be read: ${printable(why)}.` };
}

const MAX_WHY = 200;

/** A reason as one short line of ASCII: it may quote the PDF. */
function printable(why: string): string {
  return why
    .slice(0, MAX_WHY)
    .replace(/[^\x20-\x7e]+/g, ' ')
    .replace(/[\s.]+$/, '');
}
