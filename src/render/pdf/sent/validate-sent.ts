import { PDFArray, PDFBool, type PDFDocument, PDFRawStream } from '@cantoo/pdf-lib';
import { CHECKS } from '../checks.ts';
import { readStream } from '../conformance/content.ts';
import { faultsOf } from '../conformance/faults.ts';
import { StructureTree } from '../conformance/structure.ts';
import type { ArchiveLevel } from '../conformance/target.ts';
import { filesOf } from '../files-of.ts';
import { dictAt, isMarked, name } from '../objects.ts';
import { archive } from './archive.ts';
import { type Claims, claimsOf, NO_CLAIMS } from './claims.ts';
import { drawnBy } from './drawn.ts';
import { openSent } from './open-sent.ts';
import { type Refusal, refusalOf } from './refusal.ts';
import { type FoundSignature, signaturesOf } from './signatures.ts';

/** What a look at one side of a PDF has found. */
export interface Check {
  readonly check: (typeof CHECKS)[number];
  /** `notClaimed`: the PDF does not say that it is so. `notChecked`: Platen cannot tell. */
  readonly outcome: 'passed' | 'failed' | 'notClaimed' | 'notChecked';
  /** What is wrong, or why it was not looked at: each in a sentence without its full stop. */
  readonly findings: readonly string[];
}

/** What a PDF claims, and what was found. */
export interface ValidatedPdf {
  /** Of PDF, such as `1.7`; null where it could not be read. */
  readonly version: string | null;
  readonly pages: number | null;
  readonly encrypted: boolean;
  readonly claims: Claims;
  readonly signatures: readonly FoundSignature[];
  readonly checks: readonly Check[];
  /** The XML of the e-invoice that it claims to be, to be checked; null for none. */
  readonly xml: string | null;
}

const MAX_FINDINGS = 50;
/** Characters of the XML of an invoice. */
const MAX_XML = 1024 * 1024;

/** Looks at a PDF that may be broken or hostile. @returns a refusal for one that needs more than there is. */
export async function validateSent(
  file: Uint8Array,
  now: number,
): Promise<ValidatedPdf | { readonly refusal: Refusal }> {
  let document: PDFDocument;
  try {
    document = await openSent(file, { takesSigned: true });
  } catch (thrown) {
    const refusal = refusalOf(thrown);
    return refusal.code === 'DOCUMENT_LIMIT' ? { refusal } : unread(refusal);
  }
  const { claims, faults } = claimsOf(document);
  const signatures = signaturesOf(document, file, now);
  const xml = claims.einvoice && xmlOf(document, claims.einvoice.fileName);
  const checks: Check[] = [
    { check: 'file', outcome: 'passed', findings: [] },
    { check: 'encryption', outcome: 'passed', findings: [] },
    checkMetadata(faults),
    guarded('pdfua', () => checkAccessibility(document, claims)),
    einvoiceCheck(claims, xml),
    checkSignatures(signatures),
    // The last one, since it changes the document.
    guarded('pdfa', () => checkArchive(document, claims)),
  ];
  return {
    version: document.context.header.getVersionString(),
    pages: document.getPageCount(),
    encrypted: false,
    claims,
    signatures,
    checks: CHECKS.map((each) => checks.find(({ check }) => check === each)!),
    xml,
  };
}

/** What is said of a PDF that cannot be opened. */
function unread({ code, message }: Refusal): ValidatedPdf {
  const encrypted = code === 'PDF_ENCRYPTED';
  const findings = [message.replace(/\.$/, '')];
  const checks = CHECKS.map((check): Check => {
    if (check === 'encryption' && encrypted) return { check, outcome: 'failed', findings };
    if (check === 'file' && !encrypted) return { check, outcome: 'failed', findings };
    return { check, outcome: 'notChecked', findings: ['the PDF cannot be opened'] };
  });
  return { version: null, pages: null, encrypted, claims: NO_CLAIMS, signatures: [], checks, xml: null };
}

/** A part of the document that cannot be read fails its check alone. */
function guarded(check: Check['check'], look: () => Check): Check {
  try {
    return look();
  } catch (thrown) {
    return { check, outcome: 'failed', findings: [refusalOf(thrown).message.replace(/\.$/, '')] };
  }
}

function judged(check: Check['check'], findings: readonly string[]): Check {
  return {
    check,
    outcome: findings.length === 0 ? 'passed' : 'failed',
    findings: findings.slice(0, MAX_FINDINGS),
  };
}

function checkMetadata(faults: readonly string[]): Check {
  if (faults[0] === 'is missing')
    return { check: 'metadata', outcome: 'notClaimed', findings: ['the PDF has no XMP packet'] };
  return judged(
    'metadata',
    faults.map((fault) => `the XMP packet ${fault}`),
  );
}

/** By the rules of level B of the part that is claimed; what level A and U ask for besides is not looked at. */
function checkArchive(document: PDFDocument, { pdfa }: Claims): Check {
  if (pdfa === null) return { check: 'pdfa', outcome: 'notClaimed', findings: [] };
  const level: ArchiveLevel | undefined = ({ 2: '2b', 3: '3b' } as const)[pdfa[0] as '2' | '3'];
  if (level === undefined)
    return {
      check: 'pdfa',
      outcome: 'notChecked',
      findings: [`PDF/A-${pdfa} is not known here: parts 2 and 3 are`],
    };
  const { catalog, context } = document;
  const findings: string[] = [];
  if (context.trailerInfo.ID === undefined) findings.push('the file has no ID');
  const hasIntent = catalog.lookup(name('OutputIntents')) instanceof PDFArray;
  if (!hasIntent && drawnBy(document).colours.size > 0)
    findings.push('it has colours of devices, and no output intent');
  findings.push(...archive(document, level).violations);
  return judged('pdfa', findings);
}

function checkAccessibility(document: PDFDocument, { pdfua }: Claims): Check {
  if (pdfua === null) return { check: 'pdfua', outcome: 'notClaimed', findings: [] };
  if (pdfua !== '1')
    return {
      check: 'pdfua',
      outcome: 'notChecked',
      findings: [`PDF/UA-${pdfua} is not known here: part 1 is`],
    };
  const tree = StructureTree.of(document);
  if (tree === undefined || !isMarked(document.catalog)) return judged('pdfua', ['it is not tagged']);
  const preferences = dictAt(document.catalog, 'ViewerPreferences');
  const shown = preferences?.lookup(name('DisplayDocTitle')) === PDFBool.True;
  return judged('pdfua', [
    ...faultsOf(document, tree).map(({ message }) => message),
    ...(shown ? [] : ['viewers are not told to show its title (DisplayDocTitle)']),
  ]);
}

/** Whether its XML is there; its content is checked elsewhere. */
function einvoiceCheck({ einvoice }: Claims, xml: string | null): Check {
  if (einvoice === null) return { check: 'einvoice', outcome: 'notClaimed', findings: [] };
  return judged('einvoice', xml === null ? [`it has no file ${JSON.stringify(einvoice.fileName)}`] : []);
}

function checkSignatures(signatures: readonly FoundSignature[]): Check {
  const check = 'signatures';
  if (signatures.length === 0) return { check, outcome: 'notClaimed', findings: [] };
  const findings = signatures.flatMap(({ fault }, i) =>
    fault === null ? [] : [`signature ${i + 1} ${fault}`],
  );
  if (findings.length > 0) return judged(check, findings);
  const unknown = signatures.filter(({ isChecked }) => !isChecked);
  if (unknown.length === 0) return judged(check, []);
  const kinds = unknown.map(({ subFilter }) => subFilter).join(', ');
  return { check, outcome: 'notChecked', findings: [`signatures of another kind than PAdES: ${kinds}`] };
}

function xmlOf(document: PDFDocument, fileName: string): string | null {
  const specification = document.context.lookup(new Map(filesOf(document)).get(fileName));
  const stream = dictAt(specification, 'EF')?.lookup(name('F'));
  if (!(stream instanceof PDFRawStream)) return null;
  const xml = Buffer.from(readStream(stream), 'latin1').toString();
  return xml.length > MAX_XML ? null : xml;
}
