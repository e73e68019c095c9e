import { paperSide } from './core/paper-side.ts';

export const height = paperSide(
  'height',
  'Height of the paper, instead of format. Needs width. A length with a unit, 0.5in to 200in.',
);
