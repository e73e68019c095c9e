/** What readers need to draw glyphs (ISO 32000-1, 9.9), which does not include the names of fonts and their layout. */
const KEPT = ['cmap', 'cvt ', 'fpgm', 'head', 'hhea', 'hmtx', 'maxp', 'prep'] as const;
const GLYPH_HEADER = 10;
/** Flags of the components of a glyph. */
const WORDS = 1;
const SCALE = 8;
const MORE = 32;
const TWO_SCALES = 64;
const MATRIX = 128;
const MAX_COMPONENTS = 100;

/**
 * A font file with TrueType outlines that is our own: it is read without a check of its offsets. Lengths are thousandths of its
 * size.
 */
export class TrueType {
  readonly #file: Buffer;
  readonly #tables = new Map<string, Buffer>();
  readonly #unitsPerEm: number;
  readonly #offsets: readonly number[];

  constructor(file: Buffer) {
    this.#file = file;
    const count = file.readUInt16BE(4);
    for (let i = 0; i < count; i += 1) {
      const at = 12 + 16 * i;
      const [offset, length] = [file.readUInt32BE(at + 8), file.readUInt32BE(at + 12)];
      this.#tables.set(file.toString('latin1', at, at + 4), this.#file.subarray(offset, offset + length));
    }
    this.#unitsPerEm = this.#table('head').readUInt16BE(18);
    this.#offsets = this.#glyphOffsets();
  }

  get ascent(): number {
    return this.#thousandths(this.#table('hhea').readInt16BE(4));
  }

  get descent(): number {
    return this.#thousandths(this.#table('hhea').readInt16BE(6));
  }

  get box(): readonly number[] {
    return [36, 38, 40, 42].map((at) => this.#thousandths(this.#table('head').readInt16BE(at)));
  }

  /** The advance width of a glyph. */
  widthOf(glyph: number): number {
    const metrics = this.#table('hhea').readUInt16BE(34);
    return this.#thousandths(this.#table('hmtx').readUInt16BE(4 * Math.min(glyph, metrics - 1)));
  }

  /** The glyph of a character; 0 for one that the font lacks. */
  glyphOf(codePoint: number): number {
    const cmap = this.#unicodeMap;
    const segments = cmap.readUInt16BE(6) / 2;
    for (let i = 0; i < segments; i += 1) {
      const at = 14 + 2 * i;
      if (cmap.readUInt16BE(at) < codePoint) continue;
      const start = cmap.readUInt16BE(at + 2 * segments + 2);
      if (start > codePoint) return 0;
      const delta = cmap.readUInt16BE(at + 4 * segments + 2);
      const rangeAt = at + 6 * segments + 2;
      const range = cmap.readUInt16BE(rangeAt);
      if (range === 0) return (codePoint + delta) & 0xffff;
      const glyph = cmap.readUInt16BE(rangeAt + range + 2 * (codePoint - start));
      return glyph === 0 ? 0 : (glyph + delta) & 0xffff;
    }
    return 0;
  }

  /** A font file with the outlines of these glyphs alone, which keep their numbers. */
  subset(glyphs: Iterable<number>): Buffer {
    const wanted = new Set([0, ...glyphs]);
    for (const glyph of wanted) for (const part of this.#componentsOf(glyph)) wanted.add(part);
    const outlines: Buffer[] = [];
    const places = Buffer.alloc(4 * this.#offsets.length);
    let at = 0;
    for (let glyph = 0; glyph < this.#offsets.length - 1; glyph += 1) {
      places.writeUInt32BE(at, 4 * glyph);
      if (!wanted.has(glyph)) continue;
      const outline = padded(this.#outline(glyph));
      outlines.push(outline);
      at += outline.length;
    }
    places.writeUInt32BE(at, places.length - 4);
    const head = Buffer.from(this.#table('head'));
    head.writeInt16BE(1, 50);
    const kept = KEPT.flatMap((name): [string, Buffer][] => {
      const table = name === 'head' ? head : this.#tables.get(name);
      return table === undefined ? [] : [[name, table]];
    });
    return fontFile([...kept, ['glyf', Buffer.concat(outlines)], ['loca', places]]);
  }

  #table(name: string): Buffer {
    const table = this.#tables.get(name);
    if (table === undefined) throw new Error(`The font has no table ${name}.`);
    return table;
  }

  /** The map of the Basic Multilingual Plane, of format 4. */
  get #unicodeMap(): Buffer {
    const cmap = this.#table('cmap');
    for (let i = 0; i < cmap.readUInt16BE(2); i += 1) {
      const at = 4 + 8 * i;
      const map = cmap.subarray(cmap.readUInt32BE(at + 4));
      if (cmap.readUInt16BE(at) === 3 && cmap.readUInt16BE(at + 2) === 1 && map.readUInt16BE(0) === 4)
        return map;
    }
    throw new Error('The font has no map of Unicode.');
  }

  #glyphOffsets(): number[] {
    const loca = this.#table('loca');
    const isLong = this.#table('head').readInt16BE(50) === 1;
    return Array.from({ length: loca.length / (isLong ? 4 : 2) }, (_, i) =>
      isLong ? loca.readUInt32BE(4 * i) : 2 * loca.readUInt16BE(2 * i),
    );
  }

  #outline(glyph: number): Buffer {
    return this.#table('glyf').subarray(this.#offsets[glyph], this.#offsets[glyph + 1]);
  }

  /** The glyphs that a glyph consists of. */
  #componentsOf(glyph: number): number[] {
    const outline = this.#outline(glyph);
    if (outline.length < GLYPH_HEADER || outline.readInt16BE(0) >= 0) return [];
    const parts: number[] = [];
    let at = GLYPH_HEADER;
    for (let flags = MORE; (flags & MORE) !== 0 && parts.length < MAX_COMPONENTS; ) {
      flags = outline.readUInt16BE(at);
      parts.push(outline.readUInt16BE(at + 2));
      at += 4 + (flags & WORDS ? 4 : 2);
      at += flags & SCALE ? 2 : flags & TWO_SCALES ? 4 : flags & MATRIX ? 8 : 0;
    }
    return parts;
  }

  #thousandths(units: number): number {
    return Math.round((units * 1000) / this.#unitsPerEm);
  }
}

/** A file of tables (OpenType, "Organization of an OpenType font"). */
function fontFile(tables: readonly (readonly [name: string, table: Buffer])[]): Buffer {
  const sorted = tables.toSorted(([one], [other]) => (one < other ? -1 : 1));
  const header = Buffer.alloc(12 + 16 * sorted.length);
  const power = 2 ** Math.floor(Math.log2(sorted.length));
  header.writeUInt32BE(0x10000, 0);
  for (const [i, value] of [
    sorted.length,
    16 * power,
    Math.log2(power),
    16 * (sorted.length - power),
  ].entries())
    header.writeUInt16BE(value, 4 + 2 * i);
  let offset = header.length;
  for (const [i, [name, table]] of sorted.entries()) {
    const at = 12 + 16 * i;
    header.write(name, at, 'latin1');
    header.writeUInt32BE(checksum(padded(table)), at + 4);
    header.writeUInt32BE(offset, at + 8);
    header.writeUInt32BE(table.length, at + 12);
    offset += padded(table).length;
  }
  return Buffer.concat([header, ...sorted.map(([, table]) => padded(table))]);
}

function padded(table: Buffer): Buffer {
  const rest = table.length % 4;
  return rest === 0 ? table : Buffer.concat([table, Buffer.alloc(4 - rest)]);
}

function checksum(table: Buffer): number {
  let sum = 0;
  for (let at = 0; at < table.length; at += 4) sum = (sum + table.readUInt32BE(at)) >>> 0;
  return sum;
}
