import { z } from 'zod';
import { IDENTITY } from './core/identity.ts';
import { defineOption } from './core/option.ts';
import { matches } from './core/text-checks.ts';

export const userAgent = defineOption(
  'userAgent',
  z
    .string()
    .min(1)
    .max(512)
    .check(matches(/^[ -~]*[!-~][ -~]*$/, 'must be printable ASCII, such as Reports/1.0')),
  {
    stage: 'page',
    documentation: "The User-Agent of the document's requests, which scripts see as well.",
    page: (value) => [{ setting: IDENTITY, value: { userAgent: value, language: '' } }],
    load: (value) => ({ userAgent: value }),
  },
);
