import { format } from '../format.ts';
import { height } from '../height.ts';
import { landscape } from '../landscape.ts';
import { width } from '../width.ts';
import { asPrinted, lengthInInches, PAPER_INCHES, type Size } from './lengths.ts';
import type { Given } from './option.ts';

/**
 * The paper size that a render requests, in the orientation of printing; a document may choose another with
 * `preferCSSPageSize`.
 */
export function paperOf(given: Given): Size {
  const sides = [given(width), given(height)].map((side) => side && lengthInInches(side));
  const [wide, high] = sides;
  const paper: Size = wide && high ? [wide, high] : PAPER_INCHES[given(format) ?? 'A4'];
  return asPrinted(paper, given(landscape));
}
