import assert from 'node:assert/strict';
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import puppeteer from 'puppeteer';
import { createAddressPolicy } from '../../../src/infra/egress/address-policy.ts';
import { parseNetworks } from '../../../src/infra/egress/networks.ts';
import { type EgressProxy, startEgressProxy } from '../../../src/infra/egress/proxy.ts';
import { PlatenError } from '../../../src/infra/errors/registry.ts';
import { findBrowser } from '../../../src/render/chromium/process/find-browser.ts';
import type { RenderOptions } from '../../../src/render/options/all/render-options.ts';
import type { Renderer, RenderResult, RenderSource } from '../../../src/render/renderer.ts';
import { eventually, HUNG_MS } from '../../support/eventually.ts';
import { readPdf } from '../../support/pdf.ts';
import { NameServer } from './support/name-server.ts';
import { Canary, Origin } from './support/origin.ts';
import { rendererBehind } from './support/renderer-behind.ts';
import { NAVIGATIONS, VECTORS } from './support/vectors.ts';

/**
 * A real browser behind the real proxy. 127.9.9.0/24 stands for the public internet; everything else is private, and
 * a canary listens there.
 */
describe('closed network, with a browser', () => {
  let names: NameServer;
  let origin: Origin;
  let canary: Canary;
  let proxy: EgressProxy;
  let renderer: Renderer;
  let folder: string;

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'platen-egress-'));
    names = await NameServer.start();
    canary = await Canary.start('127.0.0.1', '::1', '127.9.8.1');
    origin = await Origin.start('127.9.9.1', (request, response) => {
      const url = request.url ?? '/';
      const to = new URL(url, 'http://x').searchParams.get('to');
      response.statusCode = to ? 302 : 200;
      if (to) response.setHeader('location', to);
      response.setHeader('content-type', url === '/sw.js' ? 'text/javascript' : 'text/html');
      response.setHeader('access-control-allow-origin', '*');
      response.end(pages[url] ?? '');
    });
    proxy = await startEgressProxy({
      policy: createAddressPolicy({ allowedNetworks: parseNetworks(['127.9.9.0/24']) }),
      lookup: names.lookup(),
      logger: { info: () => {}, debug: () => {} },
    });
    renderer = await rendererBehind(proxy, 1, folder);
    names.set('public.test', ['127.9.9.1']);
    names.set('private.test', ['127.0.0.1']);
    names.set('localhost', ['127.0.0.1', '::1']);
    names.set('mixed.test', ['127.9.9.1', '127.0.0.1']);
  });
  after(async () => {
    await renderer?.close();
    await Promise.all([proxy.close(), origin.close(), canary.close(), names.close()]);
    rmSync(folder, { recursive: true, force: true });
  });
  afterEach(() => assert.equal(canary.touched, 0, 'something got through'));

  /** The origin's responses, by path. */
  const pages: Record<string, string> = {};

  function render(
    document: string | { url: string },
    options: RenderOptions = {},
    signal = new AbortController().signal,
  ): Promise<RenderResult> {
    const source: RenderSource =
      typeof document === 'string' ? { kind: 'html', html: document } : { kind: 'url', url: document.url };
    return renderer.render({
      jobId: 'job',
      accountId: 'account',
      source,
      options,
      deadline: Date.now() + HUNG_MS,
      maxOutputBytes: 10_000_000,
      signal,
    });
  }

  async function problem(document: string | { url: string }): Promise<string> {
    try {
      await render(document);
      return 'none';
    } catch (error) {
      assert.ok(error instanceof PlatenError, String(error));
      return error.permanent ? `${error.code}, for good` : error.code;
    }
  }

  /** Private targets in the shapes a document may give them. */
  const privateTargets = () =>
    [
      '127.0.0.1',
      'localhost',
      '[::1]',
      '2130706433',
      '0x7f.1',
      '127.9.8.1',
      '[::ffff:127.0.0.1]',
      'private.test',
      'mixed.test',
    ].map((host) => `http://${host}:${canary.port}`);

  for (const { name, html } of [...VECTORS, ...NAVIGATIONS]) {
    it(`${name}: reaches an open address`, async () => {
      const before = origin.requests.length + origin.upgrades;
      // The document stays open until then, however slow the browser is.
      const seen = new AbortController();
      const document = `<p>x</p>${html(`http://public.test:${origin.port}`)}`;
      const rendering = render(document, { delayMs: 15_000 }, seen.signal);
      const arrives = eventually(
        'the request arrives',
        () => origin.requests.length + origin.upgrades > before,
      );
      try {
        await Promise.race([arrives, rendering.then(() => arrives)]);
      } finally {
        seen.abort();
        await rendering.catch(() => undefined);
      }
    });
  }

  for (const { name, html } of VECTORS) {
    it(`${name}: reaches nothing private`, async () => {
      await render(`<p>x</p>${privateTargets().map(html).join('')}`, { delayMs: 200 });
    });
  }

  for (const { name, html } of NAVIGATIONS) {
    it(`${name}: reaches nothing private`, async () => {
      for (const target of privateTargets())
        await render(html(target), { delayMs: 100 }).catch(() => undefined);
    });
  }

  it('a redirect leads no subresource to a private address', async () => {
    const to = encodeURIComponent(`http://127.0.0.1:${canary.port}/`);
    const redirect = `http://public.test:${origin.port}/?to=${to}`;
    const before = origin.requests.length;
    await render(
      `<img src="${redirect}"><iframe src="${redirect}"></iframe><script>fetch('${redirect}').catch(() => {})</script>`,
      { delayMs: 300 },
    );
    assert.equal(origin.requests.length - before >= 2, true);
  });

  it('a name that changes between two requests leads nowhere private', async () => {
    names.set('rebind.test', [['127.9.9.1'], ['127.0.0.1']]);
    const target = `http://rebind.test:${canary.port}`;
    const second = await Origin.start('127.9.9.1', undefined, canary.port);
    await render(
      `<script>fetch('${target}/1', { mode: 'no-cors' })
        .finally(() => fetch('${target}/2', { mode: 'no-cors', cache: 'no-store' }))
        .catch(() => {})
        .finally(() => document.body.insertAdjacentHTML('beforeend', '<p id=over>x</p>'))</script>`,
      { waitForSelector: '#over' },
    );
    assert.ok(second.requests.length >= 1);
    assert.ok(names.asked('A', 'rebind.test') >= 2);
    await second.close();
  });

  it('a service worker reaches an open address and nothing private', async () => {
    const fetches = privateTargets().map(
      (target) => `fetch('${target}/sw', { mode: 'no-cors' }).catch(() => {})`,
    );
    pages['/sw.js'] = `self.oninstall = (event) => event.waitUntil(Promise.all([
      fetch('http://public.test:${origin.port}/from-worker', { mode: 'no-cors' }), ${fetches.join(', ')}]));`;
    pages['/register'] = `<p>x</p><script>navigator.serviceWorker.register('/sw.js');
      navigator.serviceWorker.ready.then(() => document.body.insertAdjacentHTML('beforeend', '<p id=over>x</p>'))</script>`;
    // Loopback addresses count as secure, which service workers ask for.
    await render({ url: `http://127.9.9.1:${origin.port}/register` }, { waitForSelector: '#over' });
    assert.ok(origin.requests.some(({ url }) => url === '/from-worker'));
  });

  describe('datagrams, which no proxy carries', () => {
    let ear: Socket;
    let packets = 0;
    before(async () => {
      ear = createSocket('udp4');
      ear.on('message', () => {
        packets += 1;
      });
      ear.bind(0, '127.0.0.1');
      await once(ear, 'listening');
    });
    after(() => ear.close());

    const webRtc = () => `<p>x</p><script>
      const peer = new RTCPeerConnection({ iceServers: [
        { urls: 'stun:127.0.0.1:${ear.address().port}' },
        { urls: ['turn:127.0.0.1:${ear.address().port}?transport=udp', 'turn:127.0.0.1:${canary.port}?transport=tcp'], username: 'u', credential: 'p' },
      ] });
      peer.createDataChannel('x');
      peer.createOffer().then((offer) => peer.setLocalDescription(offer));
    </script>`;

    it('are sent by WebRTC in a browser that only has the proxy setting', async () => {
      const { path, kind, env } = await findBrowser({
        browserPath: process.env.PLATEN_CHROMIUM_PATH,
        warn: () => {},
      });
      const browser = await puppeteer.launch({
        executablePath: path,
        headless: kind === 'shell' ? 'shell' : true,
        env: { ...process.env, ...env },
        args: ['--no-sandbox', `--proxy-server=${proxy.url}`, '--proxy-bypass-list=<-loopback>'],
      });
      const page = await browser.newPage();
      await page.setContent(webRtc());
      await eventually('a packet arrives', () => packets > 0);
      await browser.close();
    });

    it('are not sent by WebRTC', async () => {
      packets = 0;
      await render(webRtc(), { delayMs: 2500 });
      assert.equal(packets, 0);
    });

    it('are not sent by WebTransport', async () => {
      packets = 0;
      await render(
        `<p>x</p><script>new WebTransport('https://127.0.0.1:${ear.address().port}/').ready.catch(() => {})</script>`,
        {
          delayMs: 1000,
        },
      );
      assert.equal(packets, 0);
    });
  });

  it('hints to look a name up or to connect in advance lead nowhere private', async () => {
    const hints = privateTargets().map(
      (
        target,
      ) => `<link rel=dns-prefetch href="${target}"><link rel=preconnect href="${target}"><link rel=prefetch href="${target}/p">
        <script type=speculationrules>{"prefetch":[{"urls":["${target}/s"],"eagerness":"immediate"}],"prerender":[{"urls":["${target}/r"],"eagerness":"immediate"}]}</script>`,
    );
    await render(`<p>x</p>${hints.join('')}`, { delayMs: 500 });
  });

  it('no document can read a file', async () => {
    writeFileSync(join(folder, 'secret.html'), 'LEAKED');
    writeFileSync(join(folder, 'secret.js'), 'document.write("LEAKED")');
    writeFileSync(join(folder, 'secret.css'), 'p::after { content: "LEAKED" }');
    const file = (name: string) => `file://${folder}/${name}`;
    const html = `<p>seen</p><link rel=stylesheet href="${file('secret.css')}"><script src="${file('secret.js')}"></script>
      <iframe src="${file('secret.html')}"></iframe><object data="${file('secret.html')}"></object>
      <embed src="${file('secret.html')}"><iframe src="view-source:${file('secret.html')}"></iframe>
      <script>fetch('${file('secret.html')}').then((r) => r.text()).then((t) => document.write(t)).catch(() => {})</script>`;
    pages['/files'] = html;
    const header = `<div style="font-size:9px">top<iframe src="${file('secret.html')}"></iframe><object data="${file('secret.html')}"></object></div>`;
    const options = {
      displayHeaderFooter: true,
      headerTemplate: header,
      footerTemplate: header,
      delayMs: 200,
    };
    for (const source of [html, { url: `http://public.test:${origin.port}/files` }]) {
      const { bytes: pdf } = await render(source, { ...options, margin: { top: '30mm', bottom: '30mm' } });
      const text = JSON.stringify(await readPdf(pdf));
      assert.match(text, /seen/);
      assert.doesNotMatch(text, /LEAKED/);
    }
  });

  for (const tag of [
    '<img src="URL">',
    '<iframe src="URL"></iframe>',
    '<div style="background:url(URL)">x</div>',
    '<object data="URL"></object>',
  ]) {
    it(`headers and footers reach nothing private by ${tag}`, async () => {
      const header = `<span>x</span>${privateTargets()
        .map((target) => tag.replace('URL', `${target}/header`))
        .join('')}`;
      await render('<p>x</p>', { displayHeaderFooter: true, headerTemplate: header, footerTemplate: header });
    });
  }

  it('source URLs fail with an error that names the cause', async () => {
    for (const scheme of ['http', 'https']) {
      for (const host of ['127.0.0.1', '[::1]', '0x7f000001', 'localhost']) {
        assert.equal(
          await problem({ url: `${scheme}://${host}:${canary.port}/` }),
          'URL_BLOCKED',
          `${scheme} ${host}`,
        );
      }
      // The error does not reveal which of these names exist inside.
      for (const name of ['missing.test', 'private.test', 'mixed.test'])
        assert.equal(await problem({ url: `${scheme}://${name}/` }), 'URL_UNREACHABLE, for good', scheme);
      assert.equal(await problem({ url: `${scheme}://broken.test/` }), 'URL_UNREACHABLE', scheme);
      assert.equal(await problem({ url: `${scheme}://127.9.9.200:9998/` }), 'URL_UNREACHABLE', scheme);
    }
    const to = encodeURIComponent(`http://169.254.169.254/latest/meta-data/`);
    assert.equal(await problem({ url: `http://public.test:${origin.port}/?to=${to}` }), 'URL_BLOCKED');
    assert.equal(
      await problem({ url: `http://public.test:${origin.port}/?to=file:///etc/passwd` }),
      'URL_UNREACHABLE, for good',
    );
    assert.equal(await problem({ url: `file://${folder}/secret.html` }), 'INVALID_URL');
  });
});
