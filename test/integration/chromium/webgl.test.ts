import assert from 'node:assert/strict';
import { readPdf, renderPage } from '../../support/pdf.ts';
import { render, useBench } from './support.ts';

const RED = [255, 0, 0] as const;
const DRAW = 'gl.clearColor(1, 0, 0, 1); gl.clear(gl.COLOR_BUFFER_BIT);';

/** A canvas in whose context `draw` draws. */
const canvas = (context: string, draw = DRAW) =>
  `<canvas id=c width=100 height=100></canvas><script>const gl = c.getContext(${context}); ${draw}</script>`;

/** Documents that draw once and never again. */
const ONCE = {
  'WebGL without attributes': canvas("'webgl'"),
  'WebGL 2 as three.js asks for it': canvas("'webgl2', { alpha: true, preserveDrawingBuffer: false }"),
  'WebGL by its old name': canvas("'experimental-webgl', null"),
  'WebGL drawn some frames ago': canvas(
    "'webgl'",
    `requestAnimationFrame(() => { ${DRAW} });
     let frames = 0; requestAnimationFrame(function next() { if (++frames < 20) requestAnimationFrame(next); });`,
  ),
  'WebGL in a frame': `<iframe srcdoc="${canvas("'webgl'").replaceAll('"', '&quot;')}"></iframe>`,
};

describe('a drawing in a canvas', () => {
  const bench = useBench();

  for (const [name, html] of Object.entries(ONCE))
    it(`is printed, of ${name}`, async () => {
      const { bytes } = await render(bench, html);
      assert.ok((await renderPage(bytes)).countColor(RED) > 3000);
    });

  it('in two dimensions has the attributes that it was given, and the method looks as it did', async () => {
    const html = canvas(
      "'2d', { alpha: false }",
      `const { getContext } = HTMLCanvasElement.prototype;
       document.body.append([gl.getContextAttributes().alpha, getContext.name, getContext.length, /native code/.test(getContext),
         c.getContext('webgl')].join(' '))`,
    );
    const { bytes } = await render(bench, html);
    assert.equal((await readPdf(bytes)).text.trim(), 'false getContext 1 true');
  });
});
