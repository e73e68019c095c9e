import assert from 'node:assert/strict';
import { type OptionCases, RED } from './support/cases.ts';

const picture = (colour: string) =>
  `data:image/svg+xml,${encodeURIComponent(`<svg xmlns='http://www.w3.org/2000/svg'><rect width='100' height='100' fill='${colour}'/></svg>`)}`;

const size = (width: number, height: number, deviceScaleFactor?: number) => ({
  viewport: { width, height, ...(deviceScaleFactor && { deviceScaleFactor }) },
});

export const cases: OptionCases = {
  accepted: [size(16, 10_000, 0.1), size(10_000, 5000), size(1250, 2500, 4)],
  refused: [
    [size(10_000, 10_000, 4), 'viewport', /at most 50000000 pixels.*such as \{"width": 5000/],
    [size(15, 100), 'viewport.width', /at least 16/],
    [size(100, 10_001), 'viewport.height', /at most 10000/],
    [size(100, 100, 4.1), 'viewport.deviceScaleFactor', /at most 4/],
    [size(100, 100, 0.09), 'viewport.deviceScaleFactor', /at least 0.1/],
    [{ viewport: { width: 100 } }, 'viewport.height', /is required/],
  ],
  effects: [
    {
      title: 'scripts find a window of this size',
      html: `<p id=p></p><script>p.textContent = [innerWidth, innerHeight, devicePixelRatio].join(' ')</script>`,
      options: size(1234, 567, 2),
      proof: ({ text }) => assert.equal(text.trim(), '1234 567 2'),
    },
    {
      title: 'a document that is taller than the window is shown whole, in the same width',
      html: `<div style="height: 3000px"></div><p id=p></p><script>
        new IntersectionObserver(([entry]) => { if (entry.isIntersecting) p.textContent = 'seen at ' + innerWidth + ' by ' + devicePixelRatio })
          .observe(p)</script>`,
      options: size(1000, 100, 3),
      proof: ({ text }) => assert.match(text, /seen at 1000 by 3/),
    },
    {
      title: 'pictures are chosen by deviceScaleFactor, without script',
      html: `<img width=100 height=100 srcset="${picture('blue')} 1x, ${picture('red')} 4x">`,
      options: size(500, 500, 4),
      proof: async ({ draw }) => assert.ok((await draw()).countColor(RED) > 3000),
    },
  ],
};
