import { near, type OptionCases } from './support/cases.ts';

export const cases: OptionCases = {
  accepted: [
    { width: '1in', height: '0.5in' },
    { width: '1in', height: '200in' },
  ],
  refused: [
    [{ height: '100mm' }, 'height', /needs width, such as \{"width": "100mm", "height": "150mm"\}/],
    [{ width: '1in', height: `6in${' '.repeat(40)}` }, 'height', /at most 32 characters/],
    [{ width: '1in', height: '201in' }, 'height', /must be 0.5in to 200in, such as 100mm/],
  ],
  effects: [
    {
      title: 'as many pages are printed as the content needs',
      html: '<div style="height: 700px">x</div>',
      options: { width: '6in', height: '4in' },
      proof({ pages }) {
        if (pages.length !== 2) throw new Error(`${pages.length} pages`);
        for (const page of pages) near(page.height, 288);
      },
    },
  ],
};
