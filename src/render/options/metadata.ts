import { z } from 'zod';
import type { PdfMetadata } from '../pdf/xmp.ts';
import { defineOption } from './core/option.ts';
import { shortList } from './core/short-list.ts';
import { lineSchema } from './core/text-schemas.ts';

const text255 = lineSchema({ max: 255 });

export const metadata = defineOption(
  'metadata',
  z
    .strictObject({
      title: text255.describe(
        'What viewers show in their title bar. Without it: the title element of the document.',
      ),
      author: text255.describe('Who has written the document.'),
      subject: text255.describe('What the document is about.'),
      creator: text255.describe('The program that made the document before it became a PDF.'),
      producer: text255.describe('The program that made the PDF.'),
      keywords: shortList(text255, 20).describe('Words to find the document by.'),
    })
    .partial(),
  {
    stage: 'finish',
    documentation:
      'Properties of the PDF that viewers show. Fields that are not given keep the values of the document.',
    async finish(value) {
      const empty = Object.values(value).every((field) => field === undefined || field.length === 0);
      return empty ? undefined : { step: 'metadata', argument: value satisfies PdfMetadata };
    },
  },
);
