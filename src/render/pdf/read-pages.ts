import { type PDFDocument, type PDFObject, PDFRawStream } from '@cantoo/pdf-lib';
import {
  codePointsOf,
  MAX_GLYPHS,
  type MissingGlyph,
  type PrintedText,
  UNKNOWN_CHARACTER,
} from '../report/missing-glyphs.ts';
import { MAX_BLANK, type PrintedLayout, type PrintedPages } from '../report/print-facts.ts';
import { readStream } from './conformance/content.ts';
import { dictAt, KEYS, oneOrMore } from './objects.ts';
import { isBlank, printedLayout } from './printed-layout.ts';

/**
 * A font, the text that the following glyphs represent, a string of glyphs, or the end of marked content, as Skia
 * writes them.
 */
const OPERATIONS =
  /\/(?<font>\w+) \S+ Tf|\/ActualText <(?<text>[0-9A-F]+)>|<(?<glyphs>[0-9A-F]+)> Tj|(?<end>\bEMC\b)/g;
/** Glyph 0 of a font represents characters that the font lacks (OpenType, "glyph 0"). */
const NO_GLYPH = '0000';
const SOME_MISSING = /<(?:[0-9A-F]{4})*?0000(?:[0-9A-F]{4})*> Tj/;
/** Groups that are read, of all pages together. */
const MAX_FORMS = 1000;

/**
 * Reads a document as Chromium prints it: its layout, its blank pages, and the characters that no font had. Such a
 * character is glyph 0 of a Type 0 font.
 * Skia names the character at each occurrence, except for the first such character of each font, wherever it occurs:
 * its name belongs in the font's ToUnicode table, from which Skia omits glyph 0. These characters are U+FFFD here (see
 * `withFirstNamed`).
 */
export function readPages(document: PDFDocument): PrintedPages {
  const missing = new MissingCharacters();
  const blank: number[] = [];
  let [blankPages, forms] = [0, 0];
  let layout: PrintedLayout | undefined;
  const pages = document.getPages();
  for (const [i, { node }] of pages.entries()) {
    let isEmpty = true;
    for (const text of contentsOf(document, node.get(KEYS.Contents))) {
      if (text !== undefined) layout ??= printedLayout(text);
      isEmpty &&= text !== undefined && isBlank(text);
      missing.read(text, i + 1);
    }
    for (const stream of formsOf(document, node.get(KEYS.Resources))) {
      forms += 1;
      missing.read(forms > MAX_FORMS ? undefined : contentOf(stream), i + 1);
      if (forms > MAX_FORMS) break;
    }
    if (isEmpty) {
      blankPages++;
      if (blank.length < MAX_BLANK) blank.push(i + 1);
    }
  }
  return { ...missing.found(), pages: pages.length, layout, blank, blankPages };
}

/** The characters without a font that have been read so far. */
class MissingCharacters {
  readonly #found = new Map<string, MissingGlyph>();
  readonly #fontsWithUnknown = new Set<string>();
  #cut = false;

  /** @param text undefined for one that could not be read. */
  read(text: string | undefined, page: number): void {
    if (text === undefined) {
      this.#cut = true;
      return;
    }
    for (const { character, font } of missingIn(text)) {
      if (character === UNKNOWN_CHARACTER) this.#fontsWithUnknown.add(font);
      const key = `${page} ${character}`;
      const before = this.#found.get(key);
      if (before !== undefined) this.#found.set(key, { ...before, count: before.count + 1 });
      else if (this.#found.size >= MAX_GLYPHS) this.#cut = true;
      else this.#found.set(key, { character, codePoint: codePointsOf(character), page, count: 1 });
    }
  }

  found(): PrintedText {
    return {
      missingGlyphs: [...this.#found.values()],
      fontsWithUnknown: this.#fontsWithUnknown.size,
      cut: this.#cut,
    };
  }
}

/** The groups in which a page draws, for example what has an opacity, with the groups in those; each once. */
function* formsOf(
  document: PDFDocument,
  resources: PDFObject | undefined,
  seen = new Set<PDFObject>(),
): Generator<PDFRawStream> {
  for (const reference of dictAt(document.context.lookup(resources), KEYS.XObject)?.values() ?? []) {
    const stream = document.context.lookup(reference);
    if (!(stream instanceof PDFRawStream) || seen.has(stream) || seen.size > MAX_FORMS) continue;
    seen.add(stream);
    if (stream.dict.get(KEYS.Subtype) !== KEYS.Form) continue;
    yield stream;
    yield* formsOf(document, stream.dict.get(KEYS.Resources), seen);
  }
}

/** The content of a page, stream by stream; undefined for one that is too large to read. */
function* contentsOf(document: PDFDocument, contents: PDFObject | undefined): Generator<string | undefined> {
  for (const reference of oneOrMore(document, contents)) {
    const stream = document.context.lookup(reference);
    if (stream instanceof PDFRawStream) yield contentOf(stream);
  }
}

function contentOf(stream: PDFRawStream): string | undefined {
  try {
    return readStream(stream);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') return undefined;
    throw error;
  }
}

/** Reads glyphs of two bytes each; a font with glyphs of one byte (Type 3) has no glyph 0 of this kind. */
function* missingIn(content: string): Generator<{ character: string; font: string }> {
  // Nearly every page has none, and operations are slow to read: there is one for each character of justified text.
  if (!content.includes(NO_GLYPH) || !SOME_MISSING.test(content)) return;
  let text: string | undefined;
  let font = '';
  for (const { groups = {} } of content.matchAll(OPERATIONS)) {
    if (groups.font !== undefined) font = groups.font;
    else if (groups.text !== undefined) text = decoded(groups.text);
    else if (groups.end !== undefined) text = undefined;
    else if (groups.glyphs !== undefined && groups.glyphs.length % 4 === 0) {
      const missing = (groups.glyphs.match(/.{4}/g) ?? []).filter((glyph) => glyph === NO_GLYPH).length;
      // Several glyphs of one sign count as one character.
      if (missing > 0 && text !== undefined && text !== '') yield { character: text, font };
      if (missing > 0 && text !== undefined) text = '';
      if (text === undefined)
        for (let i = 0; i < missing; i += 1) yield { character: UNKNOWN_CHARACTER, font };
    }
  }
}

/** A text string of UTF-16 with its byte order mark (ISO 32000-1, 7.9.2.2). */
function decoded(hex: string): string {
  const bytes = Buffer.from(hex, 'hex');
  if (bytes[0] !== 0xfe || bytes[1] !== 0xff) return bytes.toString('latin1').slice(0, 8);
  return Buffer.from(bytes.subarray(2, bytes.length - (bytes.length % 2)))
    .swap16()
    .toString('utf16le')
    .slice(0, 8);
}
