import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { RenderOptions } from '../../../src/render/options/all/render-options.ts';
import { readPdf, renderPage } from '../../support/pdf.ts';
import { type Bench, inDrawnFrames, render, type Site, startBench, startSite } from './support.ts';

const SQUARE = `const x = document.querySelector('canvas').getContext('2d'); x.fillStyle = '#f00'; x.fillRect(0, 0, 100, 100);`;
const PIXEL_SVG =
  '<svg xmlns="http://www.w3.org/2000/svg" width="100" height="100"><rect width="100" height="100" fill="red"/></svg>';
const RED = [255, 0, 0] as const;

describe('what a person would see', () => {
  // What draws for ever is given two seconds, each time.
  let bench: Bench;
  let site: Site;
  before(async () => {
    bench = await startBench();
    site = await startSite((request, response) => {
      const slow = request.url!.includes('very-slow') ? 3000 : request.url!.includes('slow') ? 300 : 0;
      setTimeout(() => {
        if (request.url!.includes('.svg'))
          response.writeHead(200, { 'Content-Type': 'image/svg+xml' }).end(PIXEL_SVG);
        else if (request.url!.includes('.css'))
          response.writeHead(200, { 'Content-Type': 'text/css' }).end('p { color: #f00; background: #f00 }');
        else if (request.url!.includes('.js'))
          response
            .writeHead(200, { 'Content-Type': 'text/javascript' })
            .end("document.body.append('script ran')");
        else if (request.url!.includes('.ttf'))
          response
            .writeHead(200, { 'Content-Type': 'font/ttf', 'Access-Control-Allow-Origin': '*' })
            .end(font());
        else response.writeHead(404).end();
      }, slow);
    });
  });
  after(async () => {
    await bench.close();
    await site.close();
  });

  const red = async (html: string, page = 1) =>
    (await renderPage((await render(bench, html)).bytes, page)).countColor(RED);

  it('prints what is drawn in an animation frame', async () => {
    const html = `<canvas width=100 height=100></canvas><script>requestAnimationFrame(() => { ${SQUARE} })</script>`;
    assert.ok((await red(html)) > 3000);
    assert.ok((await red(inDrawnFrames(html))) > 3000);
  });

  it('prints what is drawn in the frame after', async () => {
    const html = `<canvas width=100 height=100></canvas><script>requestAnimationFrame(() => requestAnimationFrame(() => { ${SQUARE} }))</script>`;
    assert.ok((await red(html)) > 3000);
    assert.ok((await red(inDrawnFrames(html))) > 3000);
  });

  it('calls back in frames without drawing them as it does when it draws them', async () => {
    const html = `<p></p><script>
      const log = [], say = (text) => { log.push(text); document.querySelector('p').textContent = log.join(' '); };
      onerror = () => { say('failed'); return true; };
      const times = new Map();
      const at = (name) => (time) => { times.set(name, time); say(name); };
      requestAnimationFrame(at('a'));
      requestAnimationFrame(() => { throw new Error('on purpose'); });
      const never = requestAnimationFrame(at('never'));
      requestAnimationFrame((time) => {
        at('b')(time);
        cancelAnimationFrame(last);
        requestAnimationFrame((later) => {
          at('c')(later);
          say(times.get('a') === times.get('b') && times.get('c') > times.get('b') ? 'in time' : 'at odds');
        });
      });
      const last = requestAnimationFrame(at('never either'));
      cancelAnimationFrame(never);
      try { requestAnimationFrame('no function'); } catch (error) { say(error.name); }
      say(typeof requestAnimationFrame(() => undefined));
    </script>`;
    const text = async (document: string) =>
      (await readPdf((await render(bench, document)).bytes)).text.trim();
    assert.equal(await text(html), 'TypeError number a failed b c in time');
    assert.equal(await text(inDrawnFrames(html)), await text(html));
  });

  it('prints a document that requests animation frames forever', async () => {
    // A task that is put off by nothing comes far more often than a frame, which waits for the screen's next.
    const html = `<p></p><script>let frames = 0, tasks = 0; const p = document.querySelector('p'),
      next = () => { p.textContent = (frames++) + ' ' + tasks; requestAnimationFrame(next) }; next();
      const { port1, port2 } = new MessageChannel(); port1.onmessage = () => { tasks++; port2.postMessage(0) }; port2.postMessage(0);
      addEventListener('load', () => { const shown = frames; const check = () => {
        if (frames > shown + 20) { p.id = 'goes-on' } else setTimeout(check, 10) }; check() })</script>`;
    const count = async (options: RenderOptions) => {
      const { text } = await readPdf((await render(bench, html, options)).bytes);
      const [frames, tasks] = text.trim().split(/\s+/).map(Number);
      return { frames: frames!, tasks: tasks! };
    };
    const early = await count({});
    assert.ok(early.frames >= 2, `${early.frames} frames`);
    // They go on for as long as the document is there.
    const late = await count({ waitForSelector: '#goes-on' });
    assert.ok(late.frames > 20, `${late.frames} frames`);
    assert.ok(late.frames < late.tasks / 2, `${late.frames} frames in ${late.tasks} tasks`);
  });

  it('prints animations of a still document where they have got to', async () => {
    const html = `<style>@keyframes k { from { background: #fff } to { background: #f00 } }
      p { height: 100px; animation: k 50ms forwards }</style><p>`;
    const { bytes: pdf } = await render(bench, html, { delayMs: 500 });
    assert.ok((await renderPage(pdf, 1)).countColor(RED) > 3000);
  });

  it('prints what a resize observer draws', async () => {
    assert.ok(
      (await red(
        `<canvas width=100 height=100></canvas><script>new ResizeObserver(() => { ${SQUARE} }).observe(document.querySelector('canvas'))</script>`,
      )) > 3000,
    );
  });

  it('prints what an intersection observer draws, however far down', async () => {
    const html = `<div style="height:5000px"></div><canvas width=100 height=100></canvas><script>
      new IntersectionObserver(([entry]) => { if (entry.isIntersecting) { ${SQUARE} } }).observe(document.querySelector('canvas'))</script>`;
    const { bytes: pdf, pages } = await render(bench, html);
    assert.ok((await renderPage(pdf, pages)).countColor(RED) > 3000);
  });

  for (const [what, before] of [
    ['a still document', ''],
    ['a document with script', '<script>1</script>'],
  ] as const) {
    it(`prints lazy images of ${what}, however far down`, async () => {
      const html = `${before}<div style="height:9000px"></div><img loading=lazy src="${site.at('/slow/lazy.svg')}">`;
      const { bytes: pdf, pages } = await render(bench, html);
      assert.ok((await renderPage(pdf, pages)).countColor(RED) > 3000);
    });

    it(`prints slow images and styles of ${what}`, async () => {
      const html = `${before}<link rel=stylesheet href="${site.at('/slow/a.css')}"><img src="${site.at('/slow/b.svg')}"><p>x`;
      assert.ok((await red(html)) > 6000);
    });

    it(`prints web fonts of ${what}`, async () => {
      const html = `${before}<style>@font-face { font-family: f; src: url(${site.at('/slow/f.ttf')}) } p { font: 40px f, serif }</style><p>mmmm`;
      const { bytes: pdf } = await render(bench, html);
      assert.ok(Buffer.from(pdf).includes('LiberationSans-Bold'), 'the font is embedded');
      assert.match((await readPdf(pdf)).text, /mmmm/);
    });
  }

  it('waits for what a still document shows however long it takes, each time anew', async () => {
    const shown = {
      image: (address: string) => `<img src="${address}">`,
      background: (address: string) =>
        `<div style="width:100px;height:100px;background:url(${address})"></div>`,
      mask: (address: string) =>
        `<div style="width:100px;height:100px;background:#f00;mask:url(${address})"></div>`,
      picture: (address: string) => `<picture><source srcset="${address}"><img></picture>`,
    };
    for (const [what, html] of Object.entries(shown)) {
      for (let i = 0; i < 2; i++) {
        assert.ok(
          (await red(html(site.at(`/slow/${what}${i}.svg`)))) > 3000,
          `${what}, for the ${i + 1}. time`,
        );
      }
    }
    assert.ok((await red(shown.image(site.at('/very-slow/image.svg')))) > 3000);
  });

  it('prints what a drawing loop draws once all has loaded, in whichever frame that is', async () => {
    const picture = (i: number) =>
      `<canvas width=100 height=100></canvas><img src="${site.at(`/slow/loop${i}.svg`)}" width=1>`;
    const loop = `<script>let loaded = false; onload = () => { loaded = true };
      (function next() { if (loaded) { ${SQUARE} } requestAnimationFrame(next) })()</script>`;
    for (let i = 0; i < 4; i++) assert.ok((await red(picture(i) + loop)) > 3000);
  });

  it('calls back in frames by their old name too', async () => {
    const html = `<canvas width=100 height=100></canvas><script>webkitRequestAnimationFrame(() => { ${SQUARE} })</script>`;
    assert.ok((await red(html)) > 3000);
  });

  it('loads assets over http and runs scripts from there', async () => {
    const { bytes: pdf } = await render(bench, `<body><script src="${site.at('/a.js')}"></script>`);
    assert.match((await readPdf(pdf)).text, /script ran/);
  });

  it('prints content that is fetched later when it waits for the network', async () => {
    // Too slow to have come while the page that does not wait for it has stood still.
    const html = `<p id=p>no</p><script>addEventListener('load', () => setTimeout(() => {
      const image = new Image(); image.onload = () => { p.textContent = 'yes' }; image.src = '${site.at('/very-slow/c.svg')}' }, 100))</script>`;
    assert.match(
      (await readPdf((await render(bench, html, { waitUntil: 'networkidle' })).bytes)).text,
      /yes/,
    );
    assert.match((await readPdf((await render(bench, html, { waitUntil: 'load' })).bytes)).text, /no/);
  });

  it('does not wait for images when waitUntil is domcontentloaded', async () => {
    const hanging = await startSite(() => undefined);
    try {
      for (const script of ['', '<script>1</script>']) {
        const html = `${script}<p>text<img src="${hanging.at('/never.svg')}">`;
        const { bytes: pdf } = await render(bench, html, { waitUntil: 'domcontentloaded' });
        assert.match((await readPdf(pdf)).text, /text/);
      }
    } finally {
      await hanging.close();
    }
  });

  it('follows a document that replaces itself', async () => {
    const target = await startSite((_request, response) =>
      response.writeHead(200, { 'Content-Type': 'text/html' }).end('<p>arrived'),
    );
    try {
      const { bytes: pdf } = await render(bench, `<script>location = '${target.at('/next')}'</script>`);
      assert.match((await readPdf(pdf)).text, /arrived/);
    } finally {
      await target.close();
    }
  });

  it('gives scripts a secure context with storage of its own', async () => {
    const html = `<p id=p></p><script>localStorage.a = 1; p.textContent = isSecureContext + ' ' + localStorage.length</script>`;
    assert.match((await readPdf((await render(bench, html)).bytes)).text, /true 1/);
  });
});

/** Any font that no machine has by another name. */
function font(): Buffer {
  return readFileSync(
    fileURLToPath(import.meta.resolve('pdfjs-dist/standard_fonts/LiberationSans-Bold.ttf')),
  );
}
