import assert from 'node:assert/strict';
import { readPdf } from '../../support/pdf.ts';
import { type Bench, failure, render, type Site, startBench, startSite } from './support.ts';

const MIB = 1024 ** 2;
/** Six characters of JSON each. */
const PADDING = `<!--${'\u0001'.repeat(3 * MIB)}-->`;

describe('large documents', () => {
  let bench: Bench;
  let site: Site;
  before(async () => {
    bench = await startBench();
    site = await startSite((request, response) => {
      if (request.url === '/announced') {
        response
          .writeHead(200, { 'Content-Type': 'text/html', 'Content-Length': 17 * MIB })
          .write('<p>begun');
        return;
      }
      response.writeHead(200, { 'Content-Type': 'text/html; charset=windows-1252' });
      const [, frames, mib] = /^\/frames\/(\d+)\/(\d+)$/.exec(request.url ?? '') ?? [];
      if (frames !== undefined) {
        const frame = (_: unknown, i: number) => `<iframe src="/frame/${mib}/${i}"></iframe>`;
        response.end(Array.from({ length: Number(frames) }, frame).join(''));
        return;
      }
      const frameMib = /^\/frame\/(\d+)/.exec(request.url ?? '')?.[1];
      if (frameMib !== undefined) {
        const head = `<p id=p>framed<script>p.textContent = 'scripted'</script><!--`;
        response.end(head.padEnd(Number(frameMib) * MIB, 'x'));
        return;
      }
      const bytes = request.url === '/huge' ? 17 * MIB : 3 * MIB;
      response.write(
        Buffer.from('<p>caf\u00e9<script>document.body.append(" scripted")</script><!--', 'latin1'),
      );
      response.end(Buffer.alloc(bytes, 'x'));
    });
  });
  after(async () => {
    await bench.close();
    await site.close();
  });
  const textOf = async (html: string, options = {}) =>
    (await readPdf((await render(bench, html, options)).bytes)).text;

  it('look as small ones do, and are where those are', async () => {
    const asks = `<p id=p>Käse</p><script>p.textContent += [location.href, document.referrer, isSecureContext].join(' ')</script>`;
    const small = await textOf(asks);
    assert.match(small, /Käsehttp:\/\/document\.localhost\/ +true/);
    assert.equal(await textOf(asks + PADDING), small);
  });

  it('are found again when they load themselves again', async () => {
    const html = `<p id=p></p><script>const n = Number(sessionStorage.n ?? 0); sessionStorage.n = n + 1;
      p.textContent = 'loaded ' + n; if (n < 3) location.reload()</script>${PADDING}`;
    assert.match(await textOf(html), /loaded 3/);
  });

  it('are under the policy of their render', async () => {
    const html = `<p id=p>plain</p><script>p.textContent = 'scripted'</script>${PADDING}`;
    assert.match(await textOf(html, { csp: "script-src 'none'" }), /plain/);
  });

  it('are found by the page that they are for alone, and by nothing in it', async () => {
    const html = `<p id=p></p><iframe id=f src="/" onload="p.textContent += ' frame ' + f.contentDocument?.body.textContent + '.'"></iframe>
      <script>document.cookie = 'platen-document=a; path=/x';
      fetch('/').then(async (response) => { p.textContent += ' ' + response.status + (await response.text()) + '.'; p.className = 'answered' })
      p.textContent += document.cookie</script>`;
    const text = await textOf(html, { waitForSelector: '.answered', delayMs: 500 });
    assert.match(text, /404\./);
    assert.equal(text.replace('404.', '').replace('frame .', '').trim(), '', 'nothing but what is not found');
  });

  it('are not read from what a document sends to where it is', async () => {
    const html = `<p id=p></p><form method=post action="/"><textarea name=t></textarea></form><script>
      const n = Number(sessionStorage.n ?? 0); sessionStorage.n = n + 1; p.textContent = 'loaded ' + n;
      if (n < 2) { document.forms[0].t.value = 'x'.repeat(${5 * MIB}); document.forms[0].submit() }</script>`;
    // A message that told of it, as text and in base64, would be larger than any may be.
    assert.match(await textOf(html), /loaded 2/);
  });

  it('from a source URL are printed under a policy as they are, up to a bound', async () => {
    const options = { csp: "script-src 'none'" };
    const { text } = await readPdf((await render(bench, { url: site.at('/large') }, options)).bytes);
    assert.match(text, /café/);
    assert.doesNotMatch(text, /scripted/);
    const error = await failure(render(bench, { url: site.at('/huge') }, options));
    assert.equal(error.code, 'DOCUMENT_LIMIT');
    assert.deepEqual(bench.restarts, []);
  });

  it('are rejected by the length that their server announces, before they are read', async () => {
    // Of which no more comes than its beginning.
    const rendering = render(bench, { url: site.at('/announced') }, { csp: "script-src 'none'" });
    assert.equal((await failure(rendering)).code, 'DOCUMENT_LIMIT');
  });

  it('in frames share the bound on what is printed under a policy', async () => {
    const options = { csp: "script-src 'none'" };
    const framed = async (frames: number, mib: number) =>
      await render(bench, { url: site.at(`/frames/${frames}/${mib}`) }, options);
    for (let i = 0; i < 2; i++) {
      const { text } = await readPdf((await framed(3, 4)).bytes);
      assert.equal(text.match(/framed/g)?.length, 3, 'each render may have as much as the one before it');
      assert.doesNotMatch(text, /scripted/);
    }
    assert.equal((await failure(framed(3, 7))).code, 'DOCUMENT_LIMIT');
    assert.match((await readPdf((await framed(3, 4)).bytes)).text, /framed/);
    assert.deepEqual(bench.restarts, []);
  });
});
