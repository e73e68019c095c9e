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
      title: text255,
      author: text255,
      subject: text255,
      creator: text255,
      producer: text255,
      keywords: shortList(text255, 20),
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
