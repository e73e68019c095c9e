import assert from 'node:assert/strict';
import type { RenderOptions } from '../../../src/render/options/all/render-options.ts';
import { warningsOf } from '../../../src/render/report/warnings.ts';
import { readPdf } from '../../support/pdf.ts';
import { render, useBench } from './support.ts';

const LINKS = `<!doctype html><title>t</title><style>a[href="pay/123"]::after { content: " (" attr(href) ")" }</style>
  <p><a href="pay/123">Pay</a> <a href="/terms.html?token=secret-of-mine">Terms</a> <a href="?page=2">Page</a>
  <a href="//example.com/x">X</a> <a href="https://example.com/y">Y</a> <a href="#end">End</a>
  <svg width=50 height=20><a xlink:href="/of-svg"><text y=15>svg</text></a></svg>
  <img usemap="#m" width=20 height=20 src="data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA="><map name=m><area shape=rect coords="0,0,20,20" href="of-area"></map>
  <a href="#end">To the end: <b data-page></b></a><p id=end style="break-before: page">end`;
const NAMES = ['pay/123', '/terms.html', 'of-svg', 'of-area'];
const IN_FRAME = '<iframe srcdoc="<a href=of-frame>framed</a>"></iframe>';
/** Changes nothing; the document runs script, and has a frame whose links are relative. */
const SCRIPTED = `${LINKS}${IN_FRAME}<script>
  const late = document.createElement('a'); late.href = 'made-late'; late.textContent = 'late'; document.body.append(late);
  const seen = () => document.querySelectorAll('base').length + ' ' + late.href;
  const before = seen();
  setTimeout(() => { if (seen() !== before) document.body.textContent = 'noticed'; globalThis.checked = true; }, 20);
</script>`;

describe('the made-up origin of HTML', () => {
  const bench = useBench();
  before(async () => {
    // From now on the page of this account is at the made-up origin.
    await render(bench, '<script>1</script>', {}, { accountId: 'a' });
  });

  const rendered = async (html: string, options: RenderOptions = {}) => {
    const { bytes, findings } = await render(bench, html, options, { accountId: 'a' });
    assert.ok(!Buffer.from(bytes).includes('document.localhost'));
    const pdf = await readPdf(bytes);
    return { ...pdf, links: pdf.pages.flatMap(({ links }) => links), findings };
  };

  for (const [name, html, options] of [
    ['a still document', LINKS, {}],
    ['a document with script', SCRIPTED, { waitForExpression: 'globalThis.checked' }],
    ['a document that is not read', LINKS + ' '.repeat(600_000), {}],
  ] as const) {
    for (const report of [false, true])
      it(`leads no link anywhere, and links within and to other sites where they did: ${name}, report: ${report}`, async () => {
        const { links, text, findings } = await rendered(html, { ...options, report, tableOfContents: true });
        const outside = links.filter((link) => link.startsWith('http'));
        assert.deepEqual(outside, ['http://example.com/x', 'https://example.com/y']);
        assert.deepEqual([...new Set(links.slice(2))], ['#"end"']);
        assert.match(text, /Pay \(pay\/123\)/);
        assert.match(text, /To the end: ?2/);
        assert.doesNotMatch(text, /noticed/);
        if (findings === undefined) return;
        const [warning, ...others] = warningsOf(findings).filter((each) => /relative link/.test(each));
        assert.equal(others.length, 0);
        for (const each of name === 'a document with script' ? [...NAMES, 'made-late', 'of-frame'] : NAMES)
          assert.ok(warning?.includes(each), `${each}: ${warning}`);
        assert.ok(!warning?.includes('secret-of-mine'), warning);
      });
  }

  it('is told of a bounded number of links', async () => {
    const html = Array.from({ length: 1000 }, (_, i) => `<a href="${'x'.repeat(1000)}${i}">${i}</a> `).join(
      '',
    );
    const { findings, links } = await rendered(html, { report: true });
    assert.deepEqual(links, []);
    const [warning] = warningsOf(findings!);
    assert.match(warning!, /^1000 relative links lead nowhere, .*…$/);
    assert.ok(warning!.length < 8000);
  });

  it('leaves the links of a document with a base of its own as they are, and their page numbers', async () => {
    const html = `<!doctype html><base href="https://a.example/b/"><a href="c">c</a> <a href="#end">end: <b data-page></b></a>
      <p id=end style="break-before: page">end`;
    const { links, text, findings } = await rendered(html, { report: true, tableOfContents: true });
    assert.equal(links[0], 'https://a.example/b/c');
    assert.deepEqual([...new Set(links.slice(1))], ['#"end"']);
    assert.match(text, /end: ?2/);
    assert.deepEqual(warningsOf(findings!), []);
  });

  const header =
    '<style>.url { color: red } .urls { color: blue }</style><p style="font-size: 10px">[<b class="url b">x</b>]</p>';
  const shown = { displayHeaderFooter: true, footerTemplate: header, margin: { top: '2cm', bottom: '2cm' } };
  for (const [name, options] of Object.entries<RenderOptions>({
    'all pages': { headerTemplate: header },
    'the first page': { firstHeaderTemplate: header },
  })) {
    it(`is not the address in headers of ${name}, which is baseUrl, or nothing`, async () => {
      const { text } = await rendered('<p>body', { ...shown, ...options });
      assert.match(text, /\[ ?\].*\[ ?\]/s);
      const based = await rendered('<p>body', {
        ...shown,
        ...options,
        baseUrl: 'https://a.example/?a=1&b=2',
      });
      assert.match(based.text, /\[https:\/\/a\.example\/\?a=1&b=2\]/);
    });
  }
});
