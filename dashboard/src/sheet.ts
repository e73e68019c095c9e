/** A sheet of paper in CSS pixels. */
export interface Sheet {
  readonly width: number;
  readonly height: number;
  /** Top, right, bottom, left. */
  readonly margin: readonly [number, number, number, number];
  readonly scale: number;
}

/** Width and height, upright, in millimetres. */
const PAPERS: Readonly<Record<string, readonly [number, number]>> = {
  Letter: [215.9, 279.4],
  A4: [210, 297],
  A5: [148, 210],
  A3: [297, 420],
  Legal: [215.9, 355.6],
  Tabloid: [279.4, 431.8],
};
/** CSS pixels of a unit. */
const UNITS: Readonly<Record<string, number>> = {
  px: 1,
  in: 96,
  cm: 96 / 2.54,
  mm: 96 / 25.4,
  Q: 96 / 101.6,
  pt: 96 / 72,
  pc: 16,
};
const SIDES = ['top', 'right', 'bottom', 'left'] as const;

/** The sheet that options of a render ask for, as far as they can be understood while they are typed. */
export function sheetOf(options: Readonly<Record<string, unknown>>): Sheet {
  const { format, landscape, margin, scale } = options;
  const [across, down] = PAPERS[String(format)] ?? PAPERS.A4!;
  const upright = [pixels(options.width) ?? across * UNITS.mm!, pixels(options.height) ?? down * UNITS.mm!];
  const [width = 0, height = 0] = landscape === true ? upright.toReversed() : upright;
  const sides = (typeof margin === 'object' && margin !== null ? margin : {}) as Record<string, unknown>;
  const [top, right, bottom, left] = SIDES.map((side) => pixels(sides[side]) ?? 0);
  return {
    width: Math.max(width, 1),
    height,
    margin: [top!, right!, bottom!, left!],
    scale: typeof scale === 'number' && scale >= 0.1 && scale <= 2 ? scale : 1,
  };
}

/** The pixels of a CSS length; undefined for what is none. */
function pixels(length: unknown): number | undefined {
  const [, digits, unit = 'px'] = /^\s*(\d*\.?\d+)\s*([A-Za-z]*)\s*$/.exec(String(length ?? '')) ?? [];
  const factor = UNITS[unit === '' ? 'px' : unit];
  return digits === undefined || factor === undefined ? undefined : Number(digits) * factor;
}
