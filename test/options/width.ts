import { near, type OptionCases, RED } from './support/cases.ts';

const EXAMPLE = /such as \{"width": "100mm", "height": "150mm"\}/;

export const cases: OptionCases = {
  accepted: [
    { width: '0.5in', height: '200in' },
    { width: '48px', height: '0.5in' },
  ],
  refused: [
    [{ width: '0.49in', height: '1in' }, 'width', /must be 0.5in to 200in, such as 100mm/],
    [{ width: '200.1in', height: '1in' }, 'width', /must be 0.5in to 200in/],
    [{ width: '10em', height: '1in' }, 'width', /must be a length such as 12mm/],
    [{ width: 100, height: '1in' }, 'width', /must be a string/],
    [{ width: '100mm' }, 'width', EXAMPLE],
    [{ width: '100mm', height: '100mm', format: 'A4' }, 'width', EXAMPLE],
    [{ width: '2in', height: '2in', margin: { left: '2in' } }, 'margin', /must leave room/],
  ],
  effects: [
    {
      title: 'the paper has this width and height',
      html: '<p>x</p>',
      options: { width: '100mm', height: '2in' },
      proof({ pages: [page] }) {
        near(page?.width, 283.5);
        near(page?.height, 144);
      },
    },
    {
      title: 'landscape turns the paper, and the watermark fits into it',
      html: '<p>x</p>',
      options: {
        width: '3in',
        height: '6in',
        landscape: true,
        watermark: { text: 'across the whole of the paper', rotation: 0, color: 'red', opacity: 0.6 },
      },
      async proof({ pages: [page], draw }) {
        near(page?.width, 432);
        near(page?.height, 216);
        const mark = (await draw()).boxOfColor(RED, 160);
        if (mark === undefined || mark.right - mark.left < 250 || mark.left < 1 || mark.right > 430) {
          throw new Error(`the watermark is at ${JSON.stringify(mark)}`);
        }
      },
    },
  ],
};
