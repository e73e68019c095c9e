import { type PDFDocument, PDFStream } from '@cantoo/pdf-lib';
import { readStream } from './conformance/content.ts';
import { declarationParts } from './conformance/packet.ts';
import { srgbProfile } from './conformance/srgb-profile.ts';
import { type ConformanceTarget, PDFA_LEVELS, type PdfaLevel } from './conformance/target.ts';
import { name } from './objects.ts';
import { informationPart, xmpPacket } from './xmp.ts';

/** A longer packet is none of ours. Bytes. */
const MAX_PACKET = 256 * 1024;

/** What a document declares to conform to; undefined for nothing. */
export function declaredBy({ catalog }: PDFDocument): ConformanceTarget | undefined {
  const stream = catalog.lookup(name('Metadata'));
  if (!(stream instanceof PDFStream) || stream.getContentsSize() > MAX_PACKET) return undefined;
  const packet = readStream(stream);
  const textOf = (tag: string) => new RegExp(`<${tag}>([^<]*)</${tag}>`).exec(packet)?.[1] ?? '';
  const wanted = `${textOf('pdfaid:part')}${textOf('pdfaid:conformance').toLowerCase()}`;
  const pdfa = PDFA_LEVELS.find((level) => level === wanted);
  const pdfua = textOf('pdfuaid:part') === '1';
  return pdfa !== undefined || pdfua ? { pdfa, pdfua } : undefined;
}

/**
 * What a document of several conforms to: what all of them do, at the lowest level among them. PDF/A-4 is of another version
 * of PDF, which is written before the first of them is read.
 */
export function commonConformance(
  parts: readonly (ConformanceTarget | undefined)[],
): ConformanceTarget | undefined {
  const levels = parts.map((part) => part?.pdfa);
  const [first] = levels;
  const isOfOnePart =
    first !== undefined && first !== '4' && levels.every((level) => level?.[0] === first[0]);
  const pdfa = isOfOnePart ? lowest(levels as readonly PdfaLevel[]) : undefined;
  const pdfua = parts.every((part) => part?.pdfua === true);
  return pdfa !== undefined || pdfua ? { pdfa, pdfua } : undefined;
}

/** The levels of a part are in the order b, u, a. */
function lowest(levels: readonly PdfaLevel[]): PdfaLevel {
  return levels.reduce((one, other) => (PDFA_LEVELS.indexOf(other) < PDFA_LEVELS.indexOf(one) ? other : one));
}

/** The objects by which a merged document declares its conformance, and its fields of the catalog. */
export interface Declaration {
  /** The body of the stream with the packet. */
  readonly packet: string;
  /** The body of the stream with the profile of its colours. */
  readonly profile: string;
  /** @param packet and @param profile their object numbers. */
  catalog(packet: number, profile: number): string;
}

/** @param title of the merged document. */
export function declarationOf(target: ConformanceTarget, title: string): Declaration {
  const packet = xmpPacket([informationPart({ title }), ...declarationParts(target)]);
  const profile = srgbProfile().toString('latin1');
  return {
    packet: `<</Type/Metadata/Subtype/XML/Length ${packet.length}>>stream\n${packet}\nendstream`,
    profile: `<</N 3/Length ${profile.length}>>stream\n${profile}\nendstream`,
    catalog: (packetNumber, profileNumber) =>
      `/Metadata ${packetNumber} 0 R/ViewerPreferences<</DisplayDocTitle true>>` +
      (target.pdfa === undefined
        ? ''
        : `/OutputIntents[<</Type/OutputIntent/S/GTS_PDFA1/OutputConditionIdentifier(sRGB)/Info(sRGB IEC61966-2.1)/DestOutputProfile ${profileNumber} 0 R>>]`),
  };
}
