import { type PDFDocument, PDFStream } from '@cantoo/pdf-lib';
import { ParseOption, XmlDocument } from 'libxml2-wasm';
import { readStream } from '../conformance/content.ts';
import type { FinishStep } from '../finish-step.ts';
import { setPacket } from '../information.ts';
import { name } from '../objects.ts';

/** Characters of an XMP packet that is read. */
const MAX_PACKET = 4 * 1024 * 1024;
const NAMESPACES = {
  pdfaid: 'http://www.aiim.org/pdfa/ns/id/',
  pdfuaid: 'http://www.aiim.org/pdfua/ns/id/',
  fx: 'urn:factur-x:pdfa:CrossIndustryDocument:invoice:1p0#',
};

/** What a PDF says of itself. */
export interface Claims {
  /** Part and level of PDF/A, such as `2b`; null for none. */
  readonly pdfa: string | null;
  /** Part of PDF/UA, such as `1`; null for none. */
  readonly pdfua: string | null;
  /** Of Factur-X, ZUGFeRD or XRechnung; null for none. */
  readonly einvoice: { readonly level: string; readonly fileName: string } | null;
}

export const NO_CLAIMS: Claims = { pdfa: null, pdfua: null, einvoice: null };

/**
 * What the XMP packet of a document claims. A packet may be hostile: one with a document type, which may define entities, is not
 * read.
 *
 * @returns the claims, and what is wrong with the packet, in words that follow "the XMP packet".
 */
export function claimsOf({ catalog }: PDFDocument): { readonly claims: Claims; readonly faults: string[] } {
  const stream = catalog.lookup(name('Metadata'));
  if (!(stream instanceof PDFStream)) return { claims: NO_CLAIMS, faults: ['is missing'] };
  const packet = readStream(stream);
  if (packet.length > MAX_PACKET) return { claims: NO_CLAIMS, faults: ['is larger than 4 MiB'] };
  if (/<!(?:DOCTYPE|ENTITY)/i.test(packet))
    return { claims: NO_CLAIMS, faults: ['has a document type or entities, which no XMP has'] };
  try {
    using xmp = parsed(packet);
    return { claims: readClaims(xmp), faults: [] };
  } catch {
    return { claims: NO_CLAIMS, faults: ['is not well-formed XML'] };
  }
}

/** Has a document claim no PDF/A that it may not be after these steps. */
export function withdrawClaims(document: PDFDocument, steps: readonly FinishStep[]): void {
  const { pdfa } = claimsOf(document).claims;
  if (pdfa === null || steps.every(({ step }) => keeps(step, pdfa))) return;
  using xmp = parsed(readStream(document.catalog.lookup(name('Metadata'), PDFStream)));
  for (const node of xmp.find('//pdfaid:* | //@pdfaid:*', NAMESPACES)) node.remove();
  setPacket(document, Buffer.from(xmp.toString({ noDeclaration: true })));
}

/** @param pdfa what a document claims: only some levels take any file as an attachment. */
function keeps(step: FinishStep['step'], pdfa: string): boolean {
  if (step === 'attachments') return pdfa.startsWith('3') || pdfa === '4f';
  return step === 'fill' || step === 'seal' || step === 'validation';
}

/** @param packet one byte each character. @throws for what is no XML. */
function parsed(packet: string): XmlDocument {
  const option = ParseOption.XML_PARSE_NONET | ParseOption.XML_PARSE_NO_XXE;
  return XmlDocument.fromBuffer(Buffer.from(packet, 'latin1'), { option });
}

function readClaims(document: XmlDocument): Claims {
  /** A property is an element or an attribute. */
  const property = (called: string): string | null => {
    const found = document.eval(`string((//${called} | //@${called})[1])`, NAMESPACES);
    return typeof found === 'string' && found !== '' ? found.trim().slice(0, 100) : null;
  };
  const part = property('pdfaid:part');
  const level = property('fx:ConformanceLevel');
  return {
    pdfa: part && `${part}${(property('pdfaid:conformance') ?? '').toLowerCase()}`,
    pdfua: property('pdfuaid:part'),
    einvoice: level === null ? null : { level, fileName: property('fx:DocumentFileName') ?? '' },
  };
}
