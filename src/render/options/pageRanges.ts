import { z } from 'zod';
import { defineOption } from './core/option.ts';
import { holds } from './core/text-checks.ts';

/** One range, of which the printed settings leave the spaces out. */
const RANGE = /^ *(?:(\d{1,6})|(\d{1,6})?-(\d{1,6})|(\d{1,6})-) *$/;

/** Whether each range has page numbers from 1 on, and none ends before it begins. */
function areRanges(text: string): boolean {
  return text.split(',').every((range) => {
    const match = RANGE.exec(range);
    if (match === null) return false;
    const [, single, from = '1', to, open] = match;
    const first = Number(single ?? open ?? from);
    return first >= 1 && (to === undefined || Number(to) >= first);
  });
}

export const pageRanges = defineOption(
  'pageRanges',
  z
    .string()
    .max(255)
    .check(holds(areRanges, 'must be page numbers from 1 on and ranges of them, in order, such as 1-3,5,8-')),
  {
    stage: 'print',
    documentation:
      'The pages to print, such as 1-3,5,8-. Without it all pages are printed. Pages after the last one are ignored; if none ' +
      'is left, the render fails with PAGE_RANGE_INVALID.',
    print: (value) => ({ pageRanges: value.replaceAll(' ', '') }),
  },
);
