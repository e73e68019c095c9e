import { type PDFDocument, PDFHexString, type PDFRef } from '@cantoo/pdf-lib';
import { name } from '../objects.ts';
import { compressed, type FieldFont, fieldFont, fontDescriptor, readTrueType } from './field-font.ts';
import type { TrueType } from './true-type.ts';
import { isWinAnsi } from './win-ansi.ts';

/** Fonts for what the font of fields lacks, in the order in which they are tried: Greek, Cyrillic and more; then Han. */
const FILES = [
  'Arimo_400Regular.ttf',
  'NotoSans_400Regular.ttf',
  'NotoSansJP_400Regular.ttf',
  'NotoSansSC_400Regular.ttf',
  'NotoSansKR_400Regular.ttf',
] as const;
/** Scripts whose letters are drawn one after another, from left to right, each as it is. */
const SIMPLE =
  /^[\n\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Armenian}\p{Script=Georgian}\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Common}]*$/u;
const SYMBOLIC = 4;

/** Fonts of the values of a document: each is put into it once, with the letters that are used. */
export class ValueFonts {
  readonly #document: PDFDocument;
  readonly #wide = new Map<string, WideFont>();
  #form: PDFRef | undefined;

  constructor(document: PDFDocument) {
    this.#document = document;
  }

  /** A font that has every character of these texts; undefined where none has, or where letters are joined or turned. */
  for(texts: readonly string[]): FieldFont | undefined {
    if (texts.every(isWinAnsi)) return fieldFont();
    const all = texts.join('');
    if (!SIMPLE.test(all)) return undefined;
    for (const file of FILES) {
      let font = this.#wide.get(file);
      if (font === undefined) {
        font = new WideFont(`Value${this.#wide.size}`, readTrueType(file));
        this.#wide.set(file, font);
      }
      if (font.has(all)) return font;
    }
    return undefined;
  }

  /** The object of a font in the document. */
  refOf(font: FieldFont): PDFRef {
    if (font instanceof WideFont) {
      font.ref ??= this.#document.context.nextRef();
      return font.ref;
    }
    this.#form ??= fieldFont().embed(this.#document);
    return this.#form;
  }

  /** Writes the fonts, whose letters are all known by now. */
  write(): void {
    for (const font of this.#wide.values()) font.write(this.#document);
  }
}

/** A font with any letters, each of which has two bytes (ISO 32000-1, 9.7). */
class WideFont implements FieldFont {
  readonly name: string;
  readonly ascent: number;
  readonly descent: number;
  ref: PDFRef | undefined;
  readonly #font: TrueType;
  /** Glyphs that are used, with a character of each. */
  readonly #used = new Map<number, string>();
  readonly #glyphs = new Map<string, number>();

  constructor(name: string, font: TrueType) {
    this.name = name;
    this.#font = font;
    this.ascent = font.ascent;
    this.descent = font.descent;
  }

  has(text: string): boolean {
    for (const character of text) if (character !== '\n' && this.#glyphOf(character) === 0) return false;
    return true;
  }

  widthOf(text: string): number {
    let sum = 0;
    for (const character of text) sum += this.#font.widthOf(this.#glyphOf(character));
    return sum;
  }

  encoded(text: string): string {
    let hex = '';
    for (const character of text) {
      const glyph = this.#glyphOf(character);
      this.#used.set(glyph, character);
      hex += glyph.toString(16).padStart(4, '0');
    }
    return `<${hex}>`;
  }

  write({ context }: PDFDocument): void {
    if (this.ref === undefined) return;
    const called = `PLATEN+${this.name}`;
    const file = compressed(this.#font.subset(this.#used.keys()));
    const glyphs = [...this.#used].toSorted(([one], [other]) => one - other);
    const system = {
      Registry: PDFHexString.of(Buffer.from('Adobe').toString('hex')),
      Ordering: PDFHexString.of(Buffer.from('Identity').toString('hex')),
      Supplement: 0,
    };
    const descendant = context.obj({
      Type: 'Font',
      Subtype: 'CIDFontType2',
      BaseFont: name(called),
      CIDSystemInfo: system,
      FontDescriptor: fontDescriptor(context, { name: called, flags: SYMBOLIC, font: this.#font, file }),
      CIDToGIDMap: 'Identity',
      W: glyphs.flatMap(([glyph]) => [glyph, [this.#font.widthOf(glyph)]]),
    });
    const font = {
      Type: 'Font',
      Subtype: 'Type0',
      BaseFont: name(called),
      Encoding: 'Identity-H',
      DescendantFonts: [context.register(descendant)],
      ToUnicode: context.register(context.flateStream(toUnicode(glyphs))),
    };
    context.assign(this.ref, context.obj(font));
  }

  #glyphOf(character: string): number {
    let glyph = this.#glyphs.get(character);
    if (glyph === undefined) {
      const codePoint = character.codePointAt(0)!;
      // The map of the font ends with the Basic Multilingual Plane.
      glyph = codePoint > 0xffff ? 0 : this.#font.glyphOf(codePoint);
      this.#glyphs.set(character, glyph);
    }
    return glyph;
  }
}

const MAPS_AT_ONCE = 100;

/** Says which character a glyph stands for (ISO 32000-1, 9.10.3). */
function toUnicode(glyphs: readonly (readonly [glyph: number, character: string])[]): string {
  const lines = glyphs.map(
    ([glyph, character]) =>
      `<${glyph.toString(16).padStart(4, '0')}> <${Buffer.from(character, 'utf16le').swap16().toString('hex')}>`,
  );
  const blocks: string[] = [];
  for (let i = 0; i < lines.length; i += MAPS_AT_ONCE) {
    const some = lines.slice(i, i + MAPS_AT_ONCE);
    blocks.push(`${some.length} beginbfchar\n${some.join('\n')}\nendbfchar`);
  }
  return `/CIDInit /ProcSet findresource begin
12 dict begin
begincmap
/CIDSystemInfo <</Registry (Adobe) /Ordering (UCS) /Supplement 0>> def
/CMapName /Adobe-Identity-UCS def
/CMapType 2 def
1 begincodespacerange
<0000> <ffff>
endcodespacerange
${blocks.join('\n')}
endcmap
CMapName currentdict /CMap defineresource pop
end
end`;
}
