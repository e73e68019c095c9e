/** Colours that are told apart, also without red and green. */
const COLOURS = [
  '#0072b2',
  '#e69f00',
  '#009e73',
  '#d55e00',
  '#cc79a7',
  '#56b4e9',
  '#b5a800',
  '#555555',
  '#7a4fbf',
  '#8c564b',
];
const INK = '#333333';

export interface Box {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

export function colourOf(index: number): string {
  return COLOURS[index % COLOURS.length]!;
}

export function text(
  left: number,
  baseline: number,
  content: string,
  style: { anchor?: 'start' | 'middle' | 'end'; size?: number; colour?: string; bold?: boolean } = {},
): string {
  const { anchor = 'start', size = 12, colour = INK, bold = false } = style;
  const weight = bold ? ' font-weight="bold"' : '';
  return `<text x="${round(left)}" y="${round(baseline)}" text-anchor="${anchor}" font-size="${size}" fill="${colour}"${weight}>${escaped(content)}</text>`;
}

export function rectangle({ left, top, width, height }: Box, fill: string, stroke = 'none'): string {
  return `<rect x="${round(left)}" y="${round(top)}" width="${round(width)}" height="${round(height)}" fill="${fill}" stroke="${stroke}" rx="2"/>`;
}

export function horizontal(left: number, right: number, y: number, colour: string): string {
  return `<line x1="${round(left)}" x2="${round(right)}" y1="${round(y)}" y2="${round(y)}" stroke="${colour}"/>`;
}

export function polyline(points: readonly (readonly [number, number])[], colour: string): string {
  return `<polyline points="${listed(points)}" fill="none" stroke="${colour}" stroke-width="1.4" stroke-linejoin="round"/>`;
}

export function polygon(points: readonly (readonly [number, number])[], colour: string): string {
  return `<polygon points="${listed(points)}" fill="${colour}" fill-opacity="0.25"/>`;
}

/** What fits a line of `width` pixels at `size`, as far as that can be known without the font. */
export function shortened(content: string, width: number, size = 12): string {
  const most = Math.max(4, Math.floor(width / (size * 0.55)));
  return content.length <= most ? content : `${content.slice(0, most - 1)}…`;
}

function listed(points: readonly (readonly [number, number])[]): string {
  return points.map(([x, y]) => `${round(x)},${round(y)}`).join(' ');
}

function round(value: number): string {
  return String(Math.round(value * 10) / 10);
}

function escaped(content: string): string {
  return content.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
