import type { FieldFont } from './field-font.ts';

/** Lines of a text that are drawn: more do not fit any page. */
const MAX_LINES = 1000;

/** Breaks a text into lines, between words where it can. @param width that a line may have, in thousandths of the size. */
export function brokenInto(text: string, width: number, font: FieldFont): string[] {
  const lines: string[] = [];
  for (const paragraph of text.split('\n')) {
    let line = '';
    let used = 0;
    for (const word of paragraph.split(/(?<= )/)) {
      let rest = word;
      let wide = font.widthOf(rest);
      if (line !== '' && used + font.widthOf(rest.trimEnd()) > width) {
        lines.push(line);
        [line, used] = ['', 0];
      }
      while (wide > width && rest.length > 1 && lines.length < MAX_LINES) {
        const fits = Math.max(1, fitting(rest, width, font));
        lines.push(rest.slice(0, fits));
        rest = rest.slice(fits);
        wide = font.widthOf(rest);
      }
      line += rest;
      used += wide;
    }
    lines.push(line);
    if (lines.length >= MAX_LINES) break;
  }
  return lines.slice(0, MAX_LINES);
}

/** How many characters fit. */
function fitting(text: string, width: number, font: FieldFont): number {
  let used = 0;
  for (let i = 0; i < text.length; i += 1) {
    used += font.widthOf(text[i]!);
    if (used > width) return i;
  }
  return text.length;
}
