import { near, type OptionCases } from './support/cases.ts';

export const cases: OptionCases = {
  accepted: [true, false],
  refused: [
    [{ landscape: 'true' }, 'landscape', /must be a boolean/],
    [{ landscape: 1 }, 'landscape', /must be a boolean/],
    [{ landscape: null }, 'landscape', /must be a boolean/],
  ],
  effects: [
    {
      title: 'the long side of the paper is horizontal',
      html: '<p>x',
      options: { landscape: true },
      proof({ pages: [page] }) {
        near(page?.width, 842);
        near(page?.height, 595);
      },
    },
  ],
};
