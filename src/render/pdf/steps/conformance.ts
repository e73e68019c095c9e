import { randomBytes } from 'node:crypto';
import { deflateSync } from 'node:zlib';
import {
  PDFBool,
  PDFDict,
  type PDFDocument,
  PDFHeader,
  PDFHexString,
  PDFName,
  PDFRawStream,
} from '@cantoo/pdf-lib';
import type { InvoiceProfile } from '../../einvoice/profiles.ts';
import type { AccessibilityFault } from '../../report/accessibility.ts';
import { markArtefacts } from '../conformance/artefacts.ts';
import { faultsOf } from '../conformance/faults.ts';
import { nameGlyphs } from '../conformance/fonts.ts';
import { describeLinks, type LinkTexts } from '../conformance/links.ts';
import { conformanceParts } from '../conformance/packet.ts';
import { addListBodies, groupFigures, mapRoles } from '../conformance/roles.ts';
import { srgbProfile } from '../conformance/srgb-profile.ts';
import { StructureTree } from '../conformance/structure.ts';
import { type ConformanceTarget, needsTags } from '../conformance/target.ts';
import { setPacket } from '../information.ts';
import { xmpPacket } from '../xmp.ts';

export interface ConformanceArgument extends ConformanceTarget {
  readonly links?: LinkTexts | undefined;
  /** What the document has as XML. */
  readonly invoice?: InvoiceProfile | undefined;
}

/**
 * Repairs what Chromium writes that does not conform, and declares the conformance.
 *
 * @returns what only the author of the document can mend.
 */
export default function conform(document: PDFDocument, argument: ConformanceArgument): AccessibilityFault[] {
  const tree = StructureTree.of(document);
  if (tree !== undefined) {
    repairStructure(tree);
    markArtefacts(document);
    describeLinks(document, argument.links ?? {});
  }
  const faults = tree !== undefined && needsTags(argument) ? faultsOf(document, tree) : [];
  nameGlyphs(document);
  if (argument.pdfa !== undefined) addOutputIntent(document);
  showTitle(document);
  setPacket(document, xmpPacket(conformanceParts(document, argument, argument.invoice)));
  setVersion(document, argument);
  return faults;
}

function repairStructure(tree: StructureTree): void {
  groupFigures(tree);
  addListBodies(tree);
  mapRoles(tree);
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
  document.catalog.set(PDFName.of('OutputIntents'), context.obj([intent]));
}

/** Lets viewers show the title of the document in place of the name of the file (ISO 14289-1, 7.1). */
function showTitle(document: PDFDocument): void {
  const key = PDFName.of('ViewerPreferences');
  const known = document.catalog.lookup(key);
  const preferences = known instanceof PDFDict ? known : document.context.obj({});
  preferences.set(PDFName.of('DisplayDocTitle'), PDFBool.True);
  document.catalog.set(key, preferences);
}

/** PDF/A-4 is of PDF 2.0, which has no information dictionary; the others are of PDF 1.7. */
function setVersion(document: PDFDocument, { pdfa }: ConformanceTarget): void {
  const { context } = document;
  const id = PDFHexString.of(randomBytes(16).toString('hex'));
  context.trailerInfo.ID = context.obj([id, id]);
  context.header = pdfa === '4' ? PDFHeader.forVersion(2, 0) : PDFHeader.forVersion(1, 7);
  if (pdfa === '4') delete context.trailerInfo.Info;
}
