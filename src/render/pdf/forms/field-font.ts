import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { type PDFContext, type PDFDocument, PDFRawStream, type PDFRef } from '@cantoo/pdf-lib';
import { PACKAGE_FOLDER } from '../../../infra/machine/package-folder.ts';
import { name } from '../objects.ts';
import { TrueType } from './true-type.ts';
import { WIN_ANSI, winAnsiCodes } from './win-ansi.ts';

/** `make fonts` puts fonts there, for documents as well. */
const FOLDER = join(PACKAGE_FOLDER, 'fonts', 'installed', 'files');
/** Its letters are as wide as those of Arial and Helvetica. */
const FILE = 'Arimo_400Regular.ttf';
/** How it is called in the default resources of forms. */
export const FONT_NAME = 'PlatenSans';
/** Six letters stand for a subset. */
const BASE_FONT = 'PLATEN+Arimo';
const NON_SYMBOLIC = 32;
const FIRST = 32;
const LAST = 255;

/** A font in which values are drawn. */
export interface FieldFont {
  /** How it is called in resources. */
  readonly name: string;
  /** A text as the operand of an operator. */
  encoded(text: string): string;
  /** The width of a text in thousandths of the font's size. */
  widthOf(text: string): number;
  /** Thousandths of the font's size; `descent` is negative. */
  readonly ascent: number;
  readonly descent: number;
}

/** The font in which fields are filled in, with the letters of western European languages. */
export interface FormFont extends FieldFont {
  /** Puts it into a document. */
  embed(document: PDFDocument): PDFRef;
}

let loaded: FormFont | undefined;

/** @throws Error where the fonts are not installed. */
export function fieldFont(): FormFont {
  loaded ??= readFont();
  return loaded;
}

/** A font that is installed. */
export function readTrueType(file: string): TrueType {
  return new TrueType(readFileSync(join(FOLDER, file)));
}

function readFont(): FormFont {
  const font = readTrueType(FILE);
  const glyphs = new Map(
    [...WIN_ANSI].map(([character, code]) => [code, font.glyphOf(character.codePointAt(0)!)]),
  );
  const widths = Array.from({ length: LAST - FIRST + 1 }, (_, i) => font.widthOf(glyphs.get(FIRST + i) ?? 0));
  let file: FontFile | undefined;
  return {
    name: FONT_NAME,
    encoded: (text) => `<${Buffer.from(winAnsiCodes(text)).toString('hex')}>`,
    ascent: font.ascent,
    descent: font.descent,
    widthOf: (text) => winAnsiCodes(text).reduce((sum, code) => sum + (widths[code - FIRST] ?? 0), 0),
    embed({ context }) {
      file ??= compressed(font.subset(glyphs.values()));
      return context.register(
        context.obj({
          Type: 'Font',
          Subtype: 'TrueType',
          BaseFont: name(BASE_FONT),
          Encoding: 'WinAnsiEncoding',
          FirstChar: FIRST,
          LastChar: LAST,
          Widths: widths,
          FontDescriptor: fontDescriptor(context, { name: BASE_FONT, flags: NON_SYMBOLIC, font, file }),
        }),
      );
    },
  };
}

/** A font file as it is put into a document. */
interface FontFile {
  readonly bytes: Uint8Array;
  /** Before it was compressed. */
  readonly length: number;
}

export function compressed(file: Buffer): FontFile {
  return { bytes: deflateSync(file), length: file.length };
}

/** Puts a font file into a document, and says what it is (ISO 32000-1, 9.8). */
export function fontDescriptor(
  context: PDFContext,
  font: { readonly name: string; readonly flags: number; readonly font: TrueType; readonly file: FontFile },
): PDFRef {
  const { box, ascent, descent } = font.font;
  const stream = context.obj({ Filter: 'FlateDecode', Length1: font.file.length });
  const descriptor = context.obj({
    Type: 'FontDescriptor',
    FontName: name(font.name),
    Flags: font.flags,
    FontBBox: [...box],
    ItalicAngle: 0,
    Ascent: ascent,
    Descent: descent,
    CapHeight: 716,
    StemV: 80,
    FontFile2: context.register(PDFRawStream.of(stream, font.file.bytes)),
  });
  return context.register(descriptor);
}
