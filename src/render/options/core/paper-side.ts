import { lengthInInches, lengthSchema, MAX_PAPER_INCHES, MIN_PAPER_INCHES } from './lengths.ts';
import { defineOption } from './option.ts';

const EXAMPLE = '{"width": "100mm", "height": "150mm"}';

/** An option for one side of a paper that is given by its lengths, not by a format. */
export function paperSide(name: 'width' | 'height', documentation: string) {
  const other = name === 'width' ? 'height' : 'width';
  return defineOption(
    name,
    lengthSchema.refine((text) => {
      const inches = lengthInInches(text);
      // `lengthSchema` reports an invalid length.
      return inches === undefined || (inches >= MIN_PAPER_INCHES && inches <= MAX_PAPER_INCHES);
    }, `must be ${MIN_PAPER_INCHES}in to ${MAX_PAPER_INCHES}in, such as 100mm`),
    {
      stage: 'print',
      documentation,
      // After `format`, whose default it replaces.
      order: 1,
      rules: [
        {
          error: `needs ${other}, such as ${EXAMPLE}`,
          holds: (options) => options[name] === undefined || options[other] !== undefined,
        },
        {
          error: `must not be given with format: give one of them, such as ${EXAMPLE}`,
          holds: (options) => options[name] === undefined || options.format === undefined,
        },
      ],
      print: (value) => ({ [name === 'width' ? 'paperWidth' : 'paperHeight']: lengthInInches(value) }),
    },
  );
}
