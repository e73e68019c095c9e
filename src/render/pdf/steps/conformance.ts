import { randomBytes } from 'node:crypto';
import { deflateSync } from 'node:zlib';
import { PDFBool, type PDFDocument, PDFHeader, PDFHexString, PDFRawStream, PDFString } from '@cantoo/pdf-lib';
import type { InvoiceProfile } from '../../einvoice/profiles.ts';
import type { AccessibilityFault } from '../../report/accessibility.ts';
import { markArtefacts } from '../conformance/artefacts.ts';
import { completeParts } from '../conformance/containment.ts';
import { faultsOf } from '../conformance/faults.ts';
import { nameGlyphs } from '../conformance/fonts.ts';
import { describeLinks, type LinkTexts, tagLinks } from '../conformance/links.ts';
import { conformanceParts } from '../conformance/packet.ts';
import { addListBodies, groupFigures, mapRoles } from '../conformance/roles.ts';
import { srgbProfile } from '../conformance/srgb-profile.ts';
import { StructureTree } from '../conformance/structure.ts';
import { type ConformanceTarget, needsTags } from '../conformance/target.ts';
import { setPacket } from '../information.ts';
import { dictAt, KEYS, name } from '../objects.ts';
import { xmpPacket } from '../xmp.ts';

export interface ConformanceArgument extends ConformanceTarget {
  readonly links?: LinkTexts | undefined;
  /** The language of the document, of which Chromium writes nothing where there is no text; empty for none. */
  readonly language?: string | undefined;
  /** What the document has as XML. */
  readonly invoice?: InvoiceProfile | undefined;
  /** Whether somebody has sent the document, which has been mended already: it has nothing that Chromium writes. */
  readonly isSent?: boolean | undefined;
}

/**
 * Repairs what Chromium writes that does not conform, and declares the conformance.
 *
 * @returns what only the author of the document can mend.
 */
export default function conform(document: PDFDocument, argument: ConformanceArgument): AccessibilityFault[] {
  const faults = argument.isSent ? [] : repairPrint(document, argument);
  // The own one of a document that was sent may stay.
  if (argument.pdfa !== undefined && !document.catalog.has(OUTPUT_INTENTS)) addOutputIntent(document);
  showTitle(document);
  setPacket(document, xmpPacket(conformanceParts(document, argument, argument.invoice)));
  setVersion(document, argument);
  return faults;
}

const OUTPUT_INTENTS = name('OutputIntents');

function repairPrint(document: PDFDocument, argument: ConformanceArgument): AccessibilityFault[] {
  const { language, links = {} } = argument;
  if (language && !document.catalog.has(KEYS.Lang)) document.catalog.set(KEYS.Lang, PDFString.of(language));
  const printed =
    StructureTree.of(document) ?? (needsTags(argument) ? StructureTree.begin(document) : undefined);
  const tree = printed && repaired(printed);
  if (tree !== undefined) {
    markArtefacts(document);
    describeLinks(document, links);
  }
  nameGlyphs(document);
  return tree !== undefined && needsTags(argument) ? faultsOf(document, tree) : [];
}

function repaired(printed: StructureTree): StructureTree {
  groupFigures(printed);
  const changes = [tagLinks(printed), completeParts(printed)];
  const tree = changes.includes(true) ? (StructureTree.of(printed.document) ?? printed) : printed;
  addListBodies(tree);
  mapRoles(tree);
  return tree;
}

/** Says what the colours of the document mean (ISO 19005-2, 6.2.3): they are those of sRGB. */
function addOutputIntent(document: PDFDocument): void {
  const { context } = document;
  const profile = srgbProfile();
  const stream = PDFRawStream.of(context.obj({ N: 3, Filter: 'FlateDecode' }), deflateSync(profile));
  const intent = context.obj({
    Type: 'OutputIntent',
    S: 'GTS_PDFA1',
    OutputConditionIdentifier: PDFHexString.fromText('sRGB'),
    Info: PDFHexString.fromText('sRGB IEC61966-2.1'),
    DestOutputProfile: context.register(stream),
  });
  document.catalog.set(OUTPUT_INTENTS, context.obj([intent]));
}

/** Lets viewers show the title of the document in place of the name of the file (ISO 14289-1, 7.1). */
function showTitle(document: PDFDocument): void {
  const preferences = dictAt(document.catalog, 'ViewerPreferences') ?? document.context.obj({});
  preferences.set(name('DisplayDocTitle'), PDFBool.True);
  document.catalog.set(name('ViewerPreferences'), preferences);
}

/** PDF/A-4 is of PDF 2.0, which has no information dictionary; the others are of PDF 1.7. */
function setVersion(document: PDFDocument, { pdfa }: ConformanceTarget): void {
  const { context } = document;
  const id = PDFHexString.of(randomBytes(16).toString('hex'));
  context.trailerInfo.ID = context.obj([id, id]);
  context.header = pdfa === '4' ? PDFHeader.forVersion(2, 0) : PDFHeader.forVersion(1, 7);
  if (pdfa === '4') delete context.trailerInfo.Info;
}
