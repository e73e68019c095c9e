import { getDocument, OPS } from 'pdfjs-dist/legacy/build/pdf.mjs';

/** A font of a PDF, and what is drawn with it. */
export interface UsedFont {
  /** Without the tag of a subset, as `NotoSansArabic`. */
  readonly name: string;
  readonly embedded: boolean;
  /** Made of drawings, as colour emoji are. */
  readonly drawn: boolean;
  /** Glyphs shown, and how many of them were number 0: the box in place of a character that the font lacks. */
  readonly glyphs: number;
  readonly boxes: number;
}

/** The fonts of the first page. */
export async function fontsInPdf(bytes: Uint8Array): Promise<UsedFont[]> {
  const loading = getDocument({ data: new Uint8Array(bytes), verbosity: 0, fontExtraProperties: true });
  try {
    const page = await (await loading.promise).getPage(1);
    const { fnArray, argsArray } = await page.getOperatorList();
    const shown = new Map<string, { glyphs: number; boxes: number }>();
    let current = { glyphs: 0, boxes: 0 };
    for (const [index, operator] of fnArray.entries()) {
      if (operator === OPS.setFont) {
        const id: string = argsArray[index][0];
        current = shown.get(id) ?? { glyphs: 0, boxes: 0 };
        shown.set(id, current);
      }
      if (operator !== OPS.showText) continue;
      // Numbers between the glyphs are kerning.
      const glyphs = (argsArray[index][0] as (number | Glyph)[]).filter((glyph) => typeof glyph === 'object');
      current.glyphs += glyphs.length;
      current.boxes += glyphs.filter((glyph) => glyph.originalCharCode === 0).length;
    }
    return [...shown].map(([id, counts]) => {
      const font = page.commonObjs.get(id) as Font;
      return {
        name: font.name.replace(/^[A-Z]{6}\+/, ''),
        embedded: font.isType3Font === true || font.missingFile !== true,
        drawn: font.isType3Font === true,
        glyphs: counts.glyphs,
        // Codes of drawn fonts are counted from 0 and say nothing.
        boxes: font.isType3Font === true ? 0 : counts.boxes,
      };
    });
  } finally {
    await loading.destroy();
  }
}

interface Glyph {
  readonly originalCharCode: number;
}

interface Font {
  readonly name: string;
  readonly missingFile?: boolean;
  readonly isType3Font?: boolean;
}
