import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import type { RenderReport } from '../../../src/render/report/phases.ts';
import { eventually } from '../../support/eventually.ts';
import { readPdf } from '../../support/pdf.ts';
import {
  type Bench,
  browserProcesses,
  failure,
  mainProcesses,
  render,
  rendererProcesses,
  type Site,
  startBench,
  startSite,
} from './support.ts';

describe('hostile documents', () => {
  let bench: Bench;
  let site: Site;
  before(async () => {
    bench = await startBench({ rendererMemoryBytes: 600 * 1024 ** 2, checkEveryMs: 250 });
    site = await startSite((request, response) => {
      if (request.url === '/hang') return;
      if (request.url === '/loop') response.writeHead(302, { Location: '/loop' }).end();
      else if (request.url === '/js-loop')
        response.writeHead(200, { 'Content-Type': 'text/html' }).end('<script>location.reload()</script>');
      else if (request.url === '/pdf')
        response.writeHead(200, { 'Content-Type': 'application/pdf' }).end('%PDF-1.4');
      else if (request.url === '/zip')
        response
          .writeHead(200, {
            'Content-Type': 'application/zip',
            'Content-Disposition': 'attachment; filename=a.zip',
          })
          .end('PK');
      else if (request.url?.startsWith('/status/'))
        response.writeHead(Number(request.url.slice(8)), { 'Content-Type': 'text/html' }).end('<p>sorry');
      else if (request.url === '/empty-error') response.writeHead(500).end();
      else response.writeHead(200, { 'Content-Type': 'text/html' }).end('<p>fine');
    });
  });
  after(async () => {
    await bench.close();
    await site.close();
  });
  afterEach(async () => {
    assert.equal(bench.renderer.health().busy, 0);
    const { bytes: pdf } = await render(bench, '<p>still working');
    assert.match((await readPdf(pdf)).text, /still working/);
  });

  const quick = { timeoutMs: 1200 };

  for (const [what, html] of [
    ['an endless loop', '<script>for (;;);</script>'],
    ['an endless loop after loading', '<script>onload = () => { for (;;); }</script>'],
    ['an endless loop in an animation frame', '<script>requestAnimationFrame(() => { for (;;); })</script>'],
    ['an endless chain of microtasks', '<script>(function f() { Promise.resolve().then(f) })()</script>'],
  ] as const) {
    it(`ends ${what} at the deadline, with its process`, async () => {
      await render(bench, '<p>warm');
      const before = rendererProcesses();
      assert.equal((await failure(render(bench, html, {}, quick))).code, 'RENDER_TIMEOUT');
      await eventually('its renderer is gone', () => {
        const now = rendererProcesses();
        return before.some((pid) => !now.includes(pid));
      });
    });
  }

  it('ends a document that never finishes loading', async () => {
    const error = await failure(render(bench, `<img src="${site.at('/hang')}">`, {}, quick));
    assert.equal(error.code, 'RENDER_TIMEOUT');
  });

  it('reports the time of each phase of a failed render, up to the phase that failed', async () => {
    const reports: RenderReport[] = [];
    const onFailed = (report: RenderReport) => reports.push(report);
    // Long enough to have loaded.
    await failure(render(bench, '<p>x', { waitForSelector: '#none' }, { timeoutMs: 5000, onFailed }));
    await failure(render(bench, `<img src="${site.at('/hang')}">`, {}, { ...quick, onFailed }));
    const [waited, loaded] = reports.map(({ phases }) => phases);
    assert.equal(reports.length, 2);
    assert.ok(waited!.load > 0 && waited!.wait > 0 && loaded!.load > 0, JSON.stringify([waited, loaded]));
    assert.deepEqual([waited!.print, waited!.finish, loaded!.wait, loaded!.print], [0, 0, 0, 0]);
    await render(bench, '<p>x', {}, { onFailed });
    assert.equal(reports.length, 2);
  });

  it('ends a selector that never comes with a code of its own', async () => {
    assert.equal(
      (await failure(render(bench, '<p>x', { waitForSelector: '#none' }, quick))).code,
      'SELECTOR_TIMEOUT',
    );
    const invalid = await failure(render(bench, '<p>x', { waitForSelector: '##' }, quick));
    assert.equal(invalid.code, 'SELECTOR_TIMEOUT');
    assert.match(invalid.message, /not a CSS selector/);
  });

  it('ends a delay that is longer than the deadline', async () => {
    assert.equal((await failure(render(bench, '<p>x', { delayMs: 60_000 }, quick))).code, 'RENDER_TIMEOUT');
  });

  it('ends a document that allocates without end, and no other render', async () => {
    const hog = `<script>const hog = []; setInterval(() => { const b = new Uint8Array(20_000_000); b.fill(1); hog.push(b) }, 5)</script>`;
    const neighbour = render(bench, '<p>neighbour', { delayMs: 3000 }, { accountId: 'neighbour' });
    const error = await failure(render(bench, hog, { waitForSelector: '#never' }));
    assert.equal(error.code, 'BROWSER_CRASHED');
    assert.match((await readPdf((await neighbour).bytes)).text, /neighbour/);
    assert.deepEqual(bench.restarts, []);
  });

  it('ends a document that fills the script heap', async () => {
    const hog = `<script>const hog = []; (function f() { for (let i = 0; i < 1e5; i++) hog.push({ i }); setTimeout(f) })()</script>`;
    const error = await failure(render(bench, hog, { waitForSelector: '#never' }));
    assert.equal(error.code, 'BROWSER_CRASHED');
  });

  it('dismisses dialogs, printing and unloading questions', async () => {
    const html = `<p id=p></p><script>
      onbeforeunload = (event) => { event.preventDefault(); return 'stay' };
      alert('a'); const sure = confirm('b'); const text = prompt('c'); print();
      p.textContent = 'went on ' + sure + ' ' + text</script>`;
    const { bytes: pdf } = await render(bench, html);
    assert.match((await readPdf(pdf)).text, /went on false null/);
  });

  it('opens no windows', async () => {
    const html = `<p id=p></p><a id=a target=_blank href="${site.at('/')}"></a><script>
      let opened = 0;
      for (let i = 0; i < 50; i++) if (window.open('${site.at('/window')}')) opened++;
      a.click(); p.textContent = 'opened ' + opened</script>`;
    const { bytes: pdf } = await render(bench, html, { delayMs: 200 });
    assert.match((await readPdf(pdf)).text, /opened 0/);
    assert.ok(!site.requests.some(({ path }) => path === '/window'));
  });

  it('downloads nothing', async () => {
    const html = `<a id=a download href="data:text/plain,x"></a><p>text<script>a.click()</script>`;
    assert.match((await readPdf((await render(bench, html, { delayMs: 100 })).bytes)).text, /text/);
  });

  it('ends documents that redirect themselves for ever', async () => {
    for (const source of ['<script>location.reload()</script>', { url: site.at('/js-loop') }]) {
      const error = await failure(render(bench, source));
      assert.equal(error.code, 'URL_UNREACHABLE');
      assert.match(error.message, /redirected itself/);
    }
  });

  it('prints documents that lead to where no page can go', async () => {
    for (const target of ['mailto:a@b.example', 'file:///etc/passwd', 'chrome://version', '#part', 'tel:1']) {
      const html = `<p>stayed<script>location.href = '${target}'</script>`;
      const { bytes: pdf } = await render(bench, html);
      assert.match((await readPdf(pdf)).text, /stayed/, target);
    }
  });

  it('stops a PDF of very many pages at the deadline', async () => {
    const html = '<div style="height:20000000px"></div>';
    const error = await failure(render(bench, html, {}, { timeoutMs: 1500, maxOutputBytes: 100_000 }));
    assert.ok(['OUTPUT_TOO_LARGE', 'RENDER_TIMEOUT'].includes(error.code), error.code);
  });

  it('is cancelled at once', async () => {
    const cancel = new AbortController();
    // Its deadline is later than the end of this test.
    const settings = { signal: cancel.signal, timeoutMs: 600_000 };
    const rendering = failure(render(bench, '<script>for (;;);</script>', {}, settings));
    setTimeout(() => cancel.abort(), 300);
    assert.equal((await rendering).code, 'CANCELLED');
    assert.equal(
      (await failure(render(bench, '<p>x', {}, { signal: AbortSignal.abort() }))).code,
      'CANCELLED',
    );
  });

  describe('source URLs', () => {
    for (const [path, permanent] of [
      ['/status/404', true],
      ['/status/410', true],
      ['/status/429', false],
      ['/status/503', false],
      ['/empty-error', false],
    ] as const) {
      it(`answering ${path} are unreachable, ${permanent ? 'for good' : 'for now'}`, async () => {
        const error = await failure(render(bench, { url: site.at(path) }));
        assert.equal(error.code, 'URL_UNREACHABLE');
        assert.equal(error.permanent, permanent);
      });
    }

    for (const path of ['/pdf', '/zip', '/loop']) {
      it(`answering ${path} are unreachable for good`, async () => {
        const error = await failure(render(bench, { url: site.at(path) }));
        assert.equal(error.code, 'URL_UNREACHABLE');
        assert.equal(error.permanent, true);
      });
    }

    for (const scheme of ['http', 'https']) {
      it(`of hosts that do not exist are unreachable for good (${scheme})`, async () => {
        const error = await failure(render(bench, { url: `${scheme}://nowhere.example/` }));
        assert.equal(error.code, 'URL_UNREACHABLE');
        assert.equal(error.permanent, true);
      });

      it(`of private addresses are blocked (${scheme})`, async () => {
        assert.equal((await failure(render(bench, { url: `${scheme}://10.0.0.1/` }))).code, 'URL_BLOCKED');
      });
    }

    it('other than http and https are blocked', async () => {
      for (const url of [
        'file:///etc/passwd',
        'javascript:1',
        'data:text/html,x',
        'about:blank',
        'nonsense',
      ]) {
        assert.equal((await failure(render(bench, { url }))).code, 'INVALID_URL');
      }
    });
  });

  it('reads no files', async () => {
    const html = `<iframe src="file:///etc/passwd"></iframe><object data="file:///etc/passwd"></object><p id=p>none</p><script>
      fetch('file:///etc/passwd').then((r) => r.text()).then((t) => { p.textContent = t }, () => 0)</script>`;
    const { text } = await readPdf((await render(bench, html, { delayMs: 200 })).bytes);
    assert.doesNotMatch(text, /root/);
  });

  it('reaches nothing past the proxy, not by WebRTC either', async () => {
    const udp = createSocket('udp4');
    let packets = 0;
    udp.on('message', () => packets++);
    await new Promise<void>((resolve) => udp.bind(0, '127.0.0.1', resolve));
    const { port } = udp.address();
    const html = `<script>
      const peer = new RTCPeerConnection({ iceServers: [{ urls: 'stun:127.0.0.1:${port}' }] });
      peer.createDataChannel('x'); peer.createOffer().then((offer) => peer.setLocalDescription(offer))</script>`;
    await render(bench, html, { delayMs: 1000 });
    udp.close();
    assert.equal(packets, 0);
  });

  it('leaves one browser and its processes', async () => {
    assert.equal(mainProcesses().length, 1);
    // What has just been ended may take a moment.
    await eventually('few processes are left', () => browserProcesses().length < 16);
  });
});

describe('without a proxy', () => {
  it('there is no network', async () => {
    const site = await startSite((_request, response) => response.end('x'));
    const bench = await startBench({ proxyUrl: undefined, egress: undefined });
    try {
      await render(bench, `<img src="http://127.0.0.1:${site.port}/direct"><p>x`);
      assert.equal(
        (await failure(render(bench, { url: `http://127.0.0.1:${site.port}/` }))).code,
        'URL_UNREACHABLE',
      );
      assert.deepEqual(site.requests, []);
    } finally {
      await bench.close();
      await site.close();
    }
  });
});
