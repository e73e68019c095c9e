import { paperSide } from './core/paper-side.ts';

export const height = paperSide(
  'height',
  'Height of the paper, together with width: a length with a unit, 0.5in to 200in.',
);
