import { near, type OptionCases, RED } from './support/cases.ts';

export const cases: OptionCases = {
  accepted: [0.1, 2],
  refused: [
    [{ scale: 0.09 }, 'scale', /must be at least 0.1/],
    [{ scale: 2.01 }, 'scale', /must be at most 2/],
    [{ scale: '1' }, 'scale', /must be a number/],
    [{ scale: null }, 'scale', /must be a number/],
  ],
  effects: [
    {
      title: 'the document is enlarged on the paper',
      html: '<body style="margin: 0"><div style="background: red; width: 96px; height: 96px">x',
      options: { scale: 2 },
      async proof({ pages: [page], draw }) {
        const box = (await draw()).boxOfColor(RED);
        near(box?.right, 143);
        near(box?.bottom, 143);
        near(page?.width, 595);
      },
    },
  ],
};
