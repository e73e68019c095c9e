import { createHash } from 'node:crypto';
import { ParseSpeeds, PDFArray, PDFDict, PDFDocument, PDFHexString, type PDFRef } from '@cantoo/pdf-lib';
import type { ValidationData } from '../../seal/revocation/gather.ts';
import { name } from '../objects.ts';

/**
 * Appends to a sealed PDF what its signature can be checked with later: the document security store (ETSI EN 319 142-1,
 * 5.4.2). The bytes that are signed stay as they are.
 */
export async function changeFile(pdf: Uint8Array, data: ValidationData): Promise<Uint8Array> {
  const document = await PDFDocument.load(pdf, {
    updateMetadata: false,
    parseSpeed: ParseSpeeds.Fastest,
    forIncrementalUpdate: true,
  });
  const { catalog, context } = document;
  const streams = (all: readonly Uint8Array[]): PDFRef[] =>
    all.map((bytes) => context.register(context.flateStream(bytes)));
  const [certificates, ocsps, crls] = [data.certificates, data.ocsps, data.crls].map(streams);
  const listed = (keys: readonly [string, string, string]) => {
    const dict = context.obj({});
    for (const [i, refs] of [certificates!, ocsps!, crls!].entries())
      if (refs.length > 0) dict.set(name(keys[i]!), context.obj(refs));
    return dict;
  };
  const store = listed(['Certs', 'OCSPs', 'CRLs']);
  // By the hash of the signature, with the zeros that fill its place.
  const hash = createHash('sha1').update(signatureOf(document)).digest('hex').toUpperCase();
  store.set(name('VRI'), context.obj({ [hash]: listed(['Cert', 'OCSP', 'CRL']) }));
  catalog.set(name('DSS'), context.register(store));
  context.snapshot!.markRefForSave(context.trailerInfo.Root as PDFRef);
  return await document.save({ useObjectStreams: false, objectsPerTick: Number.POSITIVE_INFINITY });
}

/** The value of its one signature. */
function signatureOf({ catalog, context }: PDFDocument): Uint8Array {
  const fields = catalog.lookup(name('AcroForm'), PDFDict).lookup(name('Fields'), PDFArray);
  for (const reference of fields.asArray().toReversed()) {
    const field = context.lookup(reference);
    if (!(field instanceof PDFDict) || field.get(name('FT')) !== name('Sig')) continue;
    const value = field.lookupMaybe(name('V'), PDFDict);
    if (value !== undefined) return value.lookup(name('Contents'), PDFHexString).asBytes();
  }
  throw new Error('The PDF has no signature.');
}
