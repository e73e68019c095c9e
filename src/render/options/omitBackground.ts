import { z } from 'zod';
import { defineOption, type PageSetting } from './core/option.ts';

const TRANSPARENT: PageSetting<boolean> = {
  name: 'transparent background',
  initial: false,
  until: 'printed',
  send: (session, transparent) =>
    session.send(
      'Emulation.setDefaultBackgroundColorOverride',
      transparent ? { color: { r: 0, g: 0, b: 0, a: 0 } } : {},
    ),
};

export const omitBackground = defineOption('omitBackground', z.boolean(), {
  stage: 'page',
  documentation:
    'Leave out the background that the browser draws for a document with a dark color-scheme. Pages of other documents are ' +
    'transparent anyway.',
  default: false,
  page: (value) => [{ setting: TRANSPARENT, value }],
});
