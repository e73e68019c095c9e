/**
 * An ICC profile of sRGB (IEC 61966-2-1), made from the numbers of the standards: 520 bytes, and nobody's work but ours.
 * ICC.1:2004-10 (version 4.2), an RGB display profile of matrix and curves.
 */
export function srgbProfile(): Buffer {
  const curve = parametric();
  const tags: [signature: string, data: Buffer][] = [
    ['desc', text('sRGB')],
    ['cprt', text('No copyright, use freely')],
    ['wtpt', xyz(D50)],
    ['chad', chromaticAdaptation()],
    ['rXYZ', xyz([0.43607, 0.22249, 0.01392])],
    ['gXYZ', xyz([0.38515, 0.71687, 0.09708])],
    ['bXYZ', xyz([0.14307, 0.06061, 0.7141])],
    ['rTRC', curve],
    ['gTRC', curve],
    ['bTRC', curve],
  ];
  const table = Buffer.alloc(4 + 12 * tags.length);
  table.writeUInt32BE(tags.length, 0);
  const placed = new Map<Buffer, number>();
  const bodies: Buffer[] = [];
  let at = HEADER_BYTES + table.length;
  for (const [i, [signature, data]] of tags.entries()) {
    if (!placed.has(data)) {
      placed.set(data, at);
      bodies.push(data);
      at += data.length;
    }
    const entry = 4 + 12 * i;
    table.write(signature, entry, 'latin1');
    table.writeUInt32BE(placed.get(data)!, entry + 4);
    table.writeUInt32BE(data.length, entry + 8);
  }
  return Buffer.concat([header(at), table, ...bodies]);
}

const HEADER_BYTES = 128;
/** The illuminant of the profile connection space. */
const D50 = [0.9642, 1, 0.8249] as const;
/** The parameters of the curve of sRGB: ((x + 0.055) / 1.055) ^ 2.4 from 0.04045 on, x / 12.92 below. */
const CURVE = [2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045] as const;
/** From the white of sRGB (D65) to D50, by Bradford's method. */
const BRADFORD = [1.04788, 0.02292, -0.0502, 0.02959, 0.99048, -0.01706, -0.00923, 0.01508, 0.75168] as const;

function header(size: number): Buffer {
  const bytes = Buffer.alloc(HEADER_BYTES);
  bytes.writeUInt32BE(size, 0);
  bytes.writeUInt32BE(0x04200000, 8);
  bytes.write('mntrRGB XYZ ', 12, 'latin1');
  // A date is required; this is that of the standard of the format.
  for (const [i, part] of [2004, 10, 1, 0, 0, 0].entries()) bytes.writeUInt16BE(part, 24 + 2 * i);
  bytes.write('acsp', 36, 'latin1');
  numbers(D50).copy(bytes, 68);
  return bytes;
}

/** Fixed point numbers of 16 bits before and after the point. */
function numbers(values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(4 * values.length);
  for (const [i, value] of values.entries()) bytes.writeInt32BE(Math.round(value * 65536), 4 * i);
  return bytes;
}

const typed = (type: string, ...rest: Buffer[]): Buffer =>
  Buffer.concat([Buffer.from(`${type}\0\0\0\0`, 'latin1'), ...rest]);

const xyz = (values: readonly number[]): Buffer => typed('XYZ ', numbers(values));

const chromaticAdaptation = (): Buffer => typed('sf32', numbers(BRADFORD));

/** A curve of the third type: of five parameters. */
const parametric = (): Buffer => typed('para', Buffer.from([0, 3, 0, 0]), numbers(CURVE));

/** One text, in English, filled up to a whole number of four bytes. */
function text(value: string): Buffer {
  const characters = Buffer.from(value, 'utf16le').swap16();
  const head = Buffer.alloc(20);
  for (const [i, number] of [1, 12].entries()) head.writeUInt32BE(number, 4 * i);
  head.write('enUS', 8, 'latin1');
  head.writeUInt32BE(characters.length, 12);
  head.writeUInt32BE(28, 16);
  const padding = Buffer.alloc((4 - (characters.length % 4)) % 4);
  return typed('mluc', head, characters, padding);
}
