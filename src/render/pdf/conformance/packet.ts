import type { PDFDocument } from '@cantoo/pdf-lib';
import type { InvoiceProfile } from '../../einvoice/profiles.ts';
import { informationOf } from '../information.ts';
import { datesPart, extensionSchema, field, informationPart, type XmpPart } from '../xmp.ts';
import type { ConformanceTarget } from './target.ts';

const PDFA = 'http://www.aiim.org/pdfa/ns/id/';
const PDFUA = 'http://www.aiim.org/pdfua/ns/id/';
const FACTUR_X = 'urn:factur-x:pdfa:CrossIndustryDocument:invoice:1p0#';
/** The year of ISO 19005-4, which its packets name. */
const REVISION = '2020';

/** The parts of the packet of a document that conforms. */
export function conformanceParts(
  document: PDFDocument,
  target: ConformanceTarget,
  invoice: InvoiceProfile | undefined,
): XmpPart[] {
  return [
    informationPart(informationOf(document)),
    datesPart(document.getCreationDate(), document.getModificationDate()),
    ...declarationParts(target),
    ...(invoice === undefined ? [] : [invoicePart(invoice)]),
  ];
}

/** Says which file of the document is the invoice, and of which profile (Factur-X 1.07.3, 6.2.2). */
function invoicePart({ level, version, fileName }: InvoiceProfile): XmpPart {
  const property = (name: string, description: string) =>
    ({ name, type: 'Text', category: 'external', description }) as const;
  return {
    namespaces: { fx: FACTUR_X },
    properties: [
      field('fx:DocumentType', 'INVOICE'),
      field('fx:DocumentFileName', fileName),
      field('fx:Version', version),
      field('fx:ConformanceLevel', level),
    ],
    extension: extensionSchema('Factur-X PDFA Extension Schema', 'fx', FACTUR_X, [
      property('DocumentFileName', 'Name of the embedded XML invoice file'),
      property('DocumentType', 'INVOICE'),
      property('Version', 'Version of the Factur-X XML schema'),
      property('ConformanceLevel', 'Conformance level of the embedded Factur-X data'),
    ]),
  };
}

/** What a document conforms to. */
export function declarationParts({ pdfa, pdfua }: ConformanceTarget): XmpPart[] {
  return [...(pdfa ? [pdfaPart(pdfa)] : []), ...(pdfua ? [pdfuaPart(pdfa !== undefined)] : [])];
}

function pdfaPart(pdfa: string): XmpPart {
  const [part, level] = [pdfa.slice(0, 1), pdfa.slice(1).toUpperCase()];
  return {
    namespaces: { pdfaid: PDFA },
    properties: [
      field('pdfaid:part', part),
      field('pdfaid:conformance', level),
      field('pdfaid:rev', part === '4' ? REVISION : ''),
    ],
  };
}

/** @param described whether PDF/A asks for a description of the namespace. */
function pdfuaPart(described: boolean): XmpPart {
  const extension = extensionSchema('PDF/UA Universal Accessibility Schema', 'pdfuaid', PDFUA, [
    {
      name: 'part',
      type: 'Integer',
      category: 'internal',
      description: 'Part of ISO 14289 that the document conforms to',
    },
  ]);
  return {
    namespaces: { pdfuaid: PDFUA },
    properties: [field('pdfuaid:part', '1')],
    ...(described && { extension }),
  };
}
