import { paperSide } from './core/paper-side.ts';

export const width = paperSide(
  'width',
  'Width of the paper, instead of format. Needs height. A length with a unit, 0.5in to 200in.',
);
