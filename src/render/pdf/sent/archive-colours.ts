import { PDFDict, type PDFDocument, type PDFName, PDFRef, PDFStream } from '@cantoo/pdf-lib';
import { dictAt, listOf, name, numberOf } from '../objects.ts';
import type { ArchiveFindings } from './archive-findings.ts';
import type { Drawn } from './drawn.ts';
import { partsOf } from './reachable.ts';

const CMYK = name('DeviceCMYK');
const RGB = name('DeviceRGB');

/**
 * The colours of devices mean something by the one output intent (ISO 19005-2, 6.2.4.3): the document's own one stays if it is of
 * CMYK and colours of CMYK are used; in place of any other one, or of none, comes that of sRGB.
 */
export function checkColours(document: PDFDocument, { colours }: Drawn, found: ArchiveFindings): void {
  const named = namesIn(document);
  const usesCmyk = colours.has('DeviceCMYK') || named.has(CMYK);
  const page = colours.get('DeviceCMYK');
  const where = page === undefined ? '' : ` on page ${page}`;
  const intent = ownIntent(document);
  if (usesCmyk && intent === undefined && !named.has(name('DefaultCMYK')))
    found.fault(`it has colours of CMYK${where}, and no output intent that says what they mean`);
  if (!usesCmyk || intent === undefined) {
    document.catalog.delete(name('OutputIntents'));
    return;
  }
  intent.set(name('S'), name('GTS_PDFA1'));
  document.catalog.set(name('OutputIntents'), document.context.obj([intent]));
  if (colours.has('DeviceRGB') || named.has(RGB))
    found.fault('it has colours of RGB and of CMYK, and its output intent is that of CMYK');
}

/** The names of colour spaces that objects have, and the keys of defaults. */
function namesIn({ context }: PDFDocument): Set<PDFName> {
  const found = new Set<PDFName>();
  const ahead = context.enumerateIndirectObjects().map(([, object]) => object);
  for (let object = ahead.pop(); object !== undefined; object = ahead.pop()) {
    if (object === CMYK || object === RGB) found.add(object as PDFName);
    if (object instanceof PDFDict && object.has(name('DefaultCMYK'))) found.add(name('DefaultCMYK'));
    for (const part of partsOf(object)) if (!(part instanceof PDFRef)) ahead.push(part);
  }
  return found;
}

/** The output intent of the document that is of CMYK. */
function ownIntent({ catalog, context }: PDFDocument): PDFDict | undefined {
  const intents = listOf(catalog.lookup(name('OutputIntents'))).map((each) => dictAt(context.lookup(each)));
  return intents.find((intent) => {
    const profile = intent?.lookup(name('DestOutputProfile'));
    return profile instanceof PDFStream && numberOf(profile.dict.lookup(name('N'))) === 4;
  });
}
