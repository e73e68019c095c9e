import { near, type OptionCases } from './support/cases.ts';

const LIST = /must be one of Letter, A4, A5, A3, Legal, Tabloid/;

/** The exact size of each format is in `test/integration/chromium/options.test.ts`: builds of the browser round it. */
export const cases: OptionCases = {
  accepted: ['Letter', 'A4', 'A5', 'A3', 'Legal', 'Tabloid'],
  refused: [
    [{ format: 'a4' }, 'format', LIST],
    [{ format: 'A6' }, 'format', LIST],
    [{ format: 4 }, 'format', LIST],
    [{ format: 'constructor', margin: {} }, 'format', LIST],
  ],
  effects: [
    {
      title: 'the paper has this size',
      html: '<p>x',
      options: { format: 'A5' },
      proof({ pages: [page] }) {
        near(page?.width, 420);
        near(page?.height, 595);
      },
    },
  ],
};
