import { paperSide } from './core/paper-side.ts';

export const width = paperSide(
  'width',
  'Width of the paper, in place of format and together with height: a length with a unit, 0.5in to 200in.',
);
