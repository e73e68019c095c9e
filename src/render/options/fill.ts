import { z } from 'zod';
import { MAX_FIELDS } from '../pdf/forms/control.ts';
import type { FillArgument } from '../pdf/steps/fill.ts';
import { conformance } from './conformance.ts';
import { defineOption } from './core/option.ts';
import { shortList } from './core/short-list.ts';
import { documentSchema, lineSchema } from './core/text-schemas.ts';

/** Characters of the name of a field with those above it, and of a value. */
const MAX_NAME = 2000;
const MAX_TEXT = 100_000;
const MAX_CHOSEN = 1000;

const text = documentSchema({ max: MAX_TEXT });

const schema = z.strictObject({
  values: z
    .record(
      lineSchema({ min: 1, max: MAX_NAME }),
      z.union([text, z.number(), z.boolean(), shortList(text, MAX_CHOSEN), z.null()]),
    )
    .refine((values) => Object.keys(values).length <= MAX_FIELDS, {
      error: `must have ${MAX_FIELDS} values at most`,
    })
    .optional()
    .describe(
      'By the name of a field: a text or number for a text field, true or false for a box that is ticked, the value for radio ' +
        'buttons and lists, an array for lists of which several may be chosen, null for none.',
    ),
  flatten: z
    .boolean()
    .optional()
    .describe('Whether the fields become a part of the pages, and can no longer be changed. Default false.'),
});

export const fill = defineOption('fill', schema, {
  stage: 'finish',
  documentation:
    'Fill in the fields of the PDF: those that `forms` makes, or that a PDF has which is sent. A field that the PDF does not have is ' +
    'FORM_FIELD_UNKNOWN, a value that a field does not take FORM_VALUE_INVALID.',
  async finish({ values = {}, flatten = false }, { given }) {
    const drawn = flatten || given(conformance)?.pdfa !== undefined;
    return { step: 'fill', argument: { values, flatten, drawn } satisfies FillArgument };
  },
});

export type Fill = z.output<typeof schema>;
