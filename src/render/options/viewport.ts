import { z } from 'zod';
import { defineOption } from './core/option.ts';
import { WINDOW_SIDES } from './core/page-area.ts';
import { MAX_WINDOW_PIXELS, WINDOW_SIZE } from './core/window-size.ts';

const side = z.int().min(WINDOW_SIDES.min).max(WINDOW_SIDES.max);

export const viewport = defineOption(
  'viewport',
  z
    .strictObject({
      width: side.describe('CSS pixels, which media queries for a width see, too.'),
      height: side.describe('CSS pixels: what 100vh is before the document is printed.'),
      deviceScaleFactor: z
        .number()
        .min(0.1)
        .max(4)
        .optional()
        .describe('Pixels of a picture to a CSS pixel, by which documents choose pictures. Default 1.'),
    })
    .refine(
      ({ width, height, deviceScaleFactor = 1 }) =>
        width * height * deviceScaleFactor ** 2 <= MAX_WINDOW_PIXELS,
      `must have at most ${MAX_WINDOW_PIXELS} pixels, width × height × deviceScaleFactor², such as ` +
        '{"width": 5000, "height": 2500, "deviceScaleFactor": 2}',
    ),
  {
    stage: 'page',
    documentation:
      'Size of the window that the document is loaded into, which scripts see and by which the document chooses pictures. ' +
      'Width and height are in CSS pixels; with deviceScaleFactor they may have 50,000,000 pixels in all. It does not change ' +
      'the paper. Without it the window is as large as the printable part of a page.',
    page: ({ width, height, deviceScaleFactor = 1 }) => [
      { setting: WINDOW_SIZE, value: { width, height, deviceScaleFactor } },
    ],
  },
);
