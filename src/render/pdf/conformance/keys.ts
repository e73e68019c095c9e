import { PDFName } from '@cantoo/pdf-lib';

/** Found once: each has to be looked up for every object. */
export const KEYS = {
  Alt: PDFName.of('Alt'),
  Annots: PDFName.of('Annots'),
  Contents: PDFName.of('Contents'),
  Form: PDFName.of('Form'),
  K: PDFName.of('K'),
  Kids: PDFName.of('Kids'),
  Lang: PDFName.of('Lang'),
  Link: PDFName.of('Link'),
  MCID: PDFName.of('MCID'),
  Nums: PDFName.of('Nums'),
  P: PDFName.of('P'),
  ParentTree: PDFName.of('ParentTree'),
  Pg: PDFName.of('Pg'),
  Resources: PDFName.of('Resources'),
  RoleMap: PDFName.of('RoleMap'),
  S: PDFName.of('S'),
  Stm: PDFName.of('Stm'),
  StructParents: PDFName.of('StructParents'),
  StructTreeRoot: PDFName.of('StructTreeRoot'),
  Subtype: PDFName.of('Subtype'),
  ToUnicode: PDFName.of('ToUnicode'),
  Type: PDFName.of('Type'),
  XObject: PDFName.of('XObject'),
} as const;
