import { near, type OptionCases } from './support/cases.ts';

const MM = 72 / 25.4;
const DOCUMENT = '<style>@page { size: 50mm 100mm }</style><p>x';

export const cases: OptionCases = {
  accepted: [true, false],
  refused: [[{ preferCSSPageSize: 'yes' }, 'preferCSSPageSize', /must be a boolean/]],
  effects: [
    {
      title: 'the paper has the size that the document chooses',
      html: DOCUMENT,
      options: { preferCSSPageSize: true },
      proof({ pages: [page] }) {
        near(page?.width, 50 * MM);
        near(page?.height, 100 * MM);
      },
    },
    {
      title: 'the paper has the format that is given, when it is false',
      html: DOCUMENT,
      options: { preferCSSPageSize: false, format: 'A3' },
      proof({ pages: [page] }) {
        near(page?.width, 842);
        near(page?.height, 1191);
      },
    },
  ],
};
