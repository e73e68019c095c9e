import assert from 'node:assert/strict';
import { type OptionCases, RED } from './support/cases.ts';

const BOX = '<style>b { display: block; width: 100px; height: 100px; background: blue }</style><b></b><p>x';

export const cases: OptionCases = {
  accepted: [[], ['x'.repeat(100_000)], Array(10).fill('p {}')],
  refused: [
    [{ styles: Array(11).fill('') }, 'styles', /at most 10 items/],
    [{ styles: ['x'.repeat(100_001)] }, 'styles[0]', /at most 100000 characters/],
    [{ styles: 'p {}' }, 'styles', /must be an array/],
  ],
  effects: [
    {
      title: 'style sheets come after those of the document, in their order',
      html: BOX,
      options: { styles: ['b { background: lime }', 'b { background: red }'] },
      proof: async ({ draw }) => assert.ok((await draw()).countColor(RED) > 3000),
    },
    {
      title: 'style sheets need no policy that allows them, and no script',
      html: `${BOX}<script>document.write('scripted')</script>`,
      options: {
        styles: ['b { display: block; width: 100px; height: 100px; background: red }'],
        csp: "default-src 'none'; style-src 'none'",
        javascriptEnabled: false,
      },
      async proof({ text, draw }) {
        assert.doesNotMatch(text, /scripted/);
        assert.ok((await draw()).countColor(RED) > 3000);
      },
    },
    {
      title: 'style sheets may choose the paper',
      html: '<p>x',
      options: { styles: ['@page { size: 100mm 50mm }'], preferCSSPageSize: true },
      proof: ({ pages: [page] }) => assert.ok(Math.abs(page!.width - 283.5) < 1.5, `${page!.width}`),
    },
  ],
};
