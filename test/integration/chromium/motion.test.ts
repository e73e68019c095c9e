import assert from 'node:assert/strict';
import { readPdf, renderPage } from '../../support/pdf.ts';
import { type Bench, inDrawnFrames, render, type Site, startBench, startSite } from './support.ts';

const RED = [255, 0, 0] as const;
const PIXEL_SVG =
  '<svg xmlns="http://www.w3.org/2000/svg" width="100" height="100"><rect width="100" height="100" fill="red"/></svg>';
/** A red square, 100 pixels on paper and 75 points in its PDF. */
const BOX = '.box { width: 100px; height: 100px; background: #f00; print-color-adjust: exact }';
const SQUARE_POINTS = 75 * 75;

describe('what comes into view, and what moves', () => {
  let bench: Bench;
  let site: Site;
  before(async () => {
    bench = await startBench();
    site = await startSite((request, response) => {
      if (request.url!.includes('.svg'))
        setTimeout(
          () => response.writeHead(200, { 'Content-Type': 'image/svg+xml' }).end(PIXEL_SVG),
          request.url!.includes('slow') ? 700 : 0,
        );
      else if (request.url!.includes('unread')) {
        response.writeHead(200, { 'Cache-Control': 'no-store', 'Access-Control-Allow-Origin': '*' });
        response.end(Buffer.alloc(8 * 1024 * 1024));
      } else response.writeHead(404).end();
    });
  });
  after(async () => {
    await bench.close();
    await site.close();
  });

  /** How much of the document's pages is of exactly this red, in square points. */
  const red = async (html: string, options = {}) => {
    const { bytes: pdf, pages } = await render(bench, html, options);
    let count = 0;
    for (let page = 1; page <= pages; page++) count += (await renderPage(pdf, page)).countColor(RED, 2);
    return count;
  };
  /** Asserts that so many red squares are printed, whole and in their full colour. */
  const assertSquares = async (squares: number, html: string, options = {}) => {
    const count = await red(html, options);
    const expected = squares * SQUARE_POINTS;
    assert.ok(Math.abs(count - expected) < 0.1 * SQUARE_POINTS, `${count} points are red, not ${expected}`);
  };

  const OBSERVE = `<script>for (const box of document.querySelectorAll('[data-box]')) {
    new IntersectionObserver(([entry], observer) => { if (!entry.isIntersecting) return;
      box.className = 'box'; observer.disconnect(); }, { threshold: 0.5 }).observe(box);
  }</script>`;
  const HIDDEN = '<p data-box style="height:100px"></p>';

  describe('below a first screen of the height of the window', () => {
    const SCREEN = '<div style="height:100vh">Welcome</div>';

    it('prints what observers show', async () => {
      const boxes = `${HIDDEN}<div style="height:1500px"></div>`.repeat(4);
      await assertSquares(4, `<style>${BOX}</style>${SCREEN}${boxes}${OBSERVE}`);
    });

    it('prints what observers show below many such screens', async () => {
      await assertSquares(8, `<style>${BOX}</style>${`${SCREEN}${HIDDEN}`.repeat(8)}${OBSERVE}`);
    });

    it('prints what observers show below a screen and a half, or a third of one', async () => {
      const screens = ['150', '33', '10'].map((vh) => `<div style="min-height:${vh}vh"></div>${HIDDEN}`);
      for (const html of [screens.join(''), screens[1]! + screens[2]!]) {
        await assertSquares(html.split('data-box').length - 1, `<style>${BOX}</style>${html}${OBSERVE}`);
      }
    });

    it('prints pictures that a script loads as they come into view', async () => {
      const pictures = [1, 2, 3].map(
        (i) =>
          `<div style="height:900px"></div><img data-src="${site.at(`/slow/${i}.svg`)}" width=100 height=100>`,
      );
      const script = `<script>const observer = new IntersectionObserver((entries) => {
        for (const { isIntersecting, target } of entries) if (isIntersecting) target.src = target.dataset.src;
      }); for (const image of document.images) observer.observe(image);</script>`;
      await assertSquares(3, SCREEN + pictures.join('') + script);
    });

    it('prints lazy pictures in shadow trees', async () => {
      const html = `${SCREEN}<div style="height:9000px"></div><x-picture></x-picture><script>
        customElements.define('x-picture', class extends HTMLElement { connectedCallback() {
          this.attachShadow({ mode: 'open' }).innerHTML = '<img loading=lazy width=100 height=100 src="${site.at('/slow/shadow.svg')}">';
        } })</script>`;
      await assertSquares(1, html);
    });

    it('leaves the document at its top', async () => {
      const html = `<style>${BOX}</style>${SCREEN}${HIDDEN}${OBSERVE}<p id=at></p><script>
        onscroll = () => { at.textContent = 'at ' + scrollY; }</script>`;
      assert.match((await readPdf((await render(bench, html)).bytes)).text, /at 0/);
    });
  });

  it('prints pictures without a size whose loading makes the document taller', async () => {
    const pictures = Array.from(
      { length: 20 },
      (_, i) =>
        `<p style="height:80px"></p><img style="display:block" data-src="${site.at(`/tall-${i}.svg`)}">`,
    );
    const script = `<script>const observer = new IntersectionObserver((entries) => {
      for (const { isIntersecting, target } of entries) if (isIntersecting) target.src = target.dataset.src;
    }); for (const image of document.images) observer.observe(image);</script>`;
    await assertSquares(20, pictures.join('') + script);
  });

  it('prints what is hidden again when it goes out of view', async () => {
    const script = `<script>const observer = new IntersectionObserver((entries) => {
      for (const { isIntersecting, target } of entries) target.classList.toggle('box', isIntersecting);
    }); for (const box of document.querySelectorAll('p')) observer.observe(box);</script>`;
    await assertSquares(
      6,
      `<style>${BOX}</style>${'<p style="height:100px"></p><div style="height:800px"></div>'.repeat(6)}${script}`,
    );
  });

  it('prints what fades in when it comes into view in its full colour', async () => {
    const style = `<style>${BOX} .box { opacity: 0; transform: translateX(-40px); transition: opacity 4s 200ms, transform 4s }
      .seen { opacity: 1; transform: none }</style>`;
    const script = `<script>const observer = new IntersectionObserver((entries) => {
      for (const { isIntersecting, target } of entries) if (isIntersecting) target.classList.add('seen');
    }); for (const box of document.querySelectorAll('.box')) observer.observe(box);</script>`;
    const boxes = '<div class=box></div><div style="height:1400px"></div>'.repeat(3);
    await assertSquares(3, style + boxes + script);
    await assertSquares(3, `${style}<div style="height:100vh"></div>${boxes}${script}`);
  });

  describe('at the end of their animations', () => {
    const KEYFRAMES =
      '@keyframes in { from { opacity: 0; margin-left: 300px } } @keyframes out { to { opacity: 0 } }';

    for (const [what, script] of [
      ['a still document', ''],
      ['a document with script', '<script>1</script>'],
    ] as const) {
      it(`prints ${what}, however long they take`, async () => {
        const html = `<style>${BOX}${KEYFRAMES} .box { animation: in 3600s both } .late { animation-delay: 3600s }</style>
          <div class=box></div><div class="box late"></div>${script}`;
        await assertSquares(2, html);
      });

      it(`prints ${what} without what they take away, and leaves alone what never ends or stands still`, async () => {
        const html = `<style>${BOX}${KEYFRAMES} .gone { animation: out 3600s forwards }
          .ever { animation: in 3600s 3600s infinite } .paused { animation: out 3600s paused }</style>
          <div class="box gone"></div><div class="box ever"></div><div class="box paused"></div>${script}`;
        await assertSquares(2, html);
      });

      it(`prints drawings in SVG of ${what}`, async () => {
        const html = `<svg width=300 height=100><rect width=100 height=100 fill=red opacity=0>
          <animate id=a attributeName=opacity to=1 dur=50s begin=2s fill=freeze /></rect>
          <rect x=500 width=100 height=100 fill=red><animate attributeName=x to=200 begin=a.end+5s dur=5s repeatCount=3 fill=freeze />
          <animate attributeName=height values="100;100" dur=1s repeatCount=indefinite /></rect></svg>${script}`;
        await assertSquares(2, html);
      });
    }

    it('prints what a script does when one has ended', async () => {
      const html = `<style>${BOX} .box { opacity: 0; transition: opacity 30s } .box.in { opacity: 1 }</style>
        <div class=box></div><div class=box></div><div class=box></div><script>
        const [a, b, c] = document.querySelectorAll('.box');
        a.ontransitionend = () => b.classList.add('in');
        b.ontransitionend = () => c.animate([{ opacity: 0 }, { opacity: 1 }], { duration: 9000, fill: 'forwards' })
          .finished.then((animation) => animation.commitStyles());
        requestAnimationFrame(() => requestAnimationFrame(() => a.classList.add('in')));</script>`;
      await assertSquares(3, html);
    });

    it('prints parts in shadow trees and in frames', async () => {
      const part = `<style>${BOX}${KEYFRAMES} body { margin: 0 } .box { animation: in 3600s both }</style><div class=box></div>`;
      const html = `<x-part></x-part><iframe style="border:0" srcdoc='${part}'></iframe><script>
        document.querySelector('x-part').attachShadow({ mode: 'open' }).innerHTML = \`${part}\`;</script>`;
      await assertSquares(2, html);
    });

    it('prints what a script moves frame by frame where it comes to rest', async () => {
      const html = `<style>${BOX}</style><div class=box style="opacity:0"></div><script>
        const box = document.querySelector('.box'), begun = performance.now();
        (function next() {
          const part = Math.min(1, (performance.now() - begun) / 800);
          box.style.opacity = part;
          if (part < 1) requestAnimationFrame(next);
        })();</script>`;
      await assertSquares(1, html);
      await assertSquares(1, inDrawnFrames(html));
    });

    it('does not wait for ever for what never comes to rest', async () => {
      const html = `<style>${BOX}</style><div class=box></div><script>
        (function next() { requestAnimationFrame(next); })();
        const again = () => document.body.animate([{ opacity: 0.5 }, { opacity: 1 }], 100).finished.then(again);
        again();</script>`;
      const { bytes: pdf } = await render(bench, html);
      assert.equal((await readPdf(pdf)).pages.length, 1);
    });
  });

  it('counts the network as idle when a body is left unread', async () => {
    const html = `<p id=p>no</p><script>fetch('${site.at('/unread')}').then(({ status }) => { p.textContent = 'status ' + status; });</script>`;
    for (const settings of [{}, { accountId: 'another' }]) {
      const { bytes: pdf } = await render(bench, html, { waitUntil: 'networkidle' }, settings);
      assert.match((await readPdf(pdf)).text, /status 200/);
    }
  });

  it('does not count the network as idle while a server thinks', async () => {
    const html = `<p id=p>no</p><script>fetch('${site.at('/slow/late.svg')}', { mode: 'no-cors' }).then(() => { p.textContent = 'answered'; });</script>`;
    const { bytes: pdf } = await render(bench, html, { waitUntil: 'networkidle' });
    assert.match((await readPdf(pdf)).text, /answered/);
  });
});
