import assert from 'node:assert/strict';
import { eventually } from '../../support/eventually.ts';
import { readPdf, renderPage } from '../../support/pdf.ts';
import {
  type Bench,
  browserProcesses,
  failure,
  inDrawnFrames,
  render,
  rendererProcesses,
  type Site,
  startBench,
  startSite,
  useBench,
} from './support.ts';

/** Leaves a trace in everything a document can write to. */
const WRITE = `<p id=p>writing</p><script>(async () => {
  window.leak = 1; window.name = 'leak'; document.cookie = 'leak=1'; history.pushState(1, '', '#leak');
  localStorage.leak = 1; sessionStorage.leak = 1;
  await new Promise((done) => { const open = indexedDB.open('leak'); open.onsuccess = done; open.onerror = done });
  await (await caches.open('leak')).put('/leak', new Response('leak'));
  await (await navigator.storage.getDirectory()).getFileHandle('leak', { create: true });
  await navigator.storageBuckets?.open('leak', { persisted: false });
  new BroadcastChannel('leak').onmessage = (event) => event.target.postMessage('leak');
  setInterval(() => { localStorage.late = 1; document.cookie = 'late=1' }, 1);
  p.id = 'written';
})().catch((error) => { document.body.append(String(error)); p.id = 'written' })</script>`;

/** Says what it finds of that. */
const READ = `<p id=p></p><script>(async () => {
  const found = [];
  const note = (what, there) => { if (there) found.push(what) };
  note('global', window.leak); note('name', window.name); note('cookie', document.cookie);
  note('history', history.length > 2); note('local', localStorage.length); note('session', sessionStorage.length);
  note('indexedDB', (await indexedDB.databases()).length); note('caches', (await caches.keys()).length);
  for await (const name of (await navigator.storage.getDirectory()).keys()) note('file', name);
  note('bucket', (await navigator.storageBuckets?.keys())?.length);
  const channel = new BroadcastChannel('leak');
  channel.onmessage = () => note('channel', true);
  channel.postMessage('?');
  await new Promise((done) => setTimeout(done, 150));
  note('timer', localStorage.late || document.cookie.includes('late'));
  p.textContent = 'found: ' + (found.join(' ') || 'nothing'); p.id = 'read';
})().catch((error) => { p.textContent = String(error); p.id = 'read' })</script>`;

const PAGES = [
  { isolation: 'account', frames: false, ahead: 0 },
  { isolation: 'account', frames: true, ahead: 0 },
  { isolation: 'account', frames: false, ahead: 2 },
  { isolation: 'job', frames: false, ahead: 0 },
  { isolation: 'job', frames: true, ahead: 0 },
  { isolation: 'job', frames: true, ahead: 2 },
  { isolation: 'browser', frames: false, ahead: 0 },
] as const;

for (const { isolation, frames, ahead } of PAGES) {
  const kept = ahead > 0 ? ', with contexts made ahead' : '';
  describe(`isolation by ${isolation}, in pages that draw ${frames ? '' : 'no '}frames${kept}`, () => {
    const bench = useBench({ isolation, contextsAhead: ahead });

    const read = async (html: string, accountId: string) => {
      const document = frames ? inDrawnFrames(html) : html;
      const options = { waitForSelector: '#read, #written' };
      return (await readPdf((await render(bench, document, options, { accountId })).bytes)).text;
    };

    it('leaves a job nothing of another job of its account', async () => {
      for (let i = 0; i < (isolation === 'browser' ? 1 : 2); i++) {
        assert.equal((await read(WRITE, 'a')).trim(), 'writing');
        assert.equal((await read(READ, 'a')).trim(), 'found: nothing');
      }
    });

    it('leaves a job nothing of another account, at the same time too', async () => {
      const [, found] = await Promise.all([read(WRITE, 'a'), read(READ, 'b')]);
      assert.equal(found.trim(), 'found: nothing');
    });

    it('leaves two jobs of one account nothing of each other at the same time', async () => {
      const [, found] = await Promise.all([read(WRITE, 'a'), read(READ, 'a')]);
      assert.equal(found.trim(), 'found: nothing');
    });
  });
}

describe('kept contexts', () => {
  let bench: Bench;
  let site: Site;
  before(async () => {
    // Long enough for them to be used again, also where something stands still for a second in between.
    bench = await startBench({ maxIdleContexts: 3, contextIdleMs: 4000 });
    site = await startSite((request, response) => {
      if (request.url === '/sw.js')
        response
          .writeHead(200, { 'Content-Type': 'text/javascript' })
          .end('addEventListener("fetch", () => {})');
      else if (request.url === '/cookie.svg')
        response
          .writeHead(200, { 'Content-Type': 'image/svg+xml', 'Set-Cookie': 'seen=1; Path=/' })
          .end('<svg xmlns="http://www.w3.org/2000/svg"/>');
      else
        response
          .writeHead(200, { 'Content-Type': 'text/html', 'Set-Cookie': 'seen=1' })
          .end(`<p>${request.headers.cookie ?? 'no cookie'}`);
    });
  });
  after(async () => {
    await bench.close();
    await site.close();
  });

  it('never share a process between accounts', async () => {
    // The browser's own first page has a process too, which may come late.
    await render(bench, '<script>1</script>', {}, { accountId: 'before' });
    // By their pids: one that ends may still be there for a moment.
    const known = new Set(rendererProcesses());
    const begun = async (accountId: string) => {
      await render(bench, '<script>1</script>', {}, { accountId });
      const added = rendererProcesses().filter((pid) => !known.has(pid));
      for (const pid of added) known.add(pid);
      return added.length;
    };
    assert.equal(await begun('one'), 1);
    assert.equal(await begun('two'), 1);
  });

  it('are used again by their account', async () => {
    await render(bench, '<p>x', {}, { accountId: 'again' });
    const before = new Set(browserProcesses());
    for (const html of ['<p>x', '<script>1</script>', '<p>y'])
      await render(bench, html, {}, { accountId: 'again' });
    assert.deepEqual(
      browserProcesses().filter((pid) => !before.has(pid)),
      [],
    );
  });

  it('are bounded in number, and go when their account is idle', async () => {
    for (const accountId of ['1', '2', '3', '4', '5']) await render(bench, '<p>x', {}, { accountId });
    await eventually('the longest idle have gone', () => renderers() <= 4);
    await eventually('idle contexts are gone', () => renderers() <= 1);
  });

  it('forget the cookies of a page that was loaded, and of an image', async () => {
    const load = async () => (await readPdf((await render(bench, { url: site.at('/') })).bytes)).text.trim();
    assert.equal(await load(), 'no cookie');
    assert.equal(await load(), 'no cookie');
    await render(bench, `<img src="${site.at('/cookie.svg')}">`);
    assert.equal(await load(), 'no cookie');
  });

  it('are thrown away after a service worker, a shared worker or a pop-up', async () => {
    const worker = await startSite((request, response) => {
      if (request.url === '/sw.js')
        response
          .writeHead(200, { 'Content-Type': 'text/javascript' })
          .end('addEventListener("fetch", (e) => e.respondWith(new Response("intercepted")))');
      else
        response
          .writeHead(200, { 'Content-Type': 'text/html' })
          .end(
            `<p id=p>page</p><script>navigator.serviceWorker?.register('/sw.js').then(() => navigator.serviceWorker.ready).then(() => p.id = 'done', (e) => { p.textContent = e; p.id = 'done' }); if (!navigator.serviceWorker) p.id = 'done'</script>`,
          );
    });
    try {
      for (let i = 0; i < 2; i++) {
        const url = `http://127.0.0.1:${worker.port}/`;
        const { bytes: pdf } = await render(bench, { url }, { waitForSelector: '#done' });
        assert.equal((await readPdf(pdf)).text.trim(), 'page');
      }
      const shared = `<p id=p></p><script>
        const worker = new SharedWorker(URL.createObjectURL(new Blob(['let n = 0; onconnect = (e) => e.ports[0].postMessage(++n)'])), 'leak');
        worker.port.onmessage = ({ data }) => { p.textContent = 'connection ' + data; p.id = 'done' }</script>`;
      for (let i = 0; i < 2; i++) {
        const { bytes: pdf } = await render(bench, shared, { waitForSelector: '#done' });
        assert.equal((await readPdf(pdf)).text.trim(), 'connection 1');
      }
      const { bytes: pdf } = await render(
        bench,
        `<p id=p></p><script>p.textContent = String(window.open('about:blank'))</script>`,
      );
      assert.equal((await readPdf(pdf)).text.trim(), 'null');
    } finally {
      await worker.close();
    }
  });

  it('keep policies of one still document from the next', async () => {
    const policy = `<meta http-equiv="Content-Security-Policy" content="style-src 'none'">`;
    const styled = '<style>p::before { content: "styled " }</style><p>text';
    await render(bench, `${policy}${styled}`);
    assert.match((await readPdf((await render(bench, styled)).bytes)).text, /styled/);
  });

  for (const [what, first] of [
    ['colour scheme', '<meta name=color-scheme content=dark><p>x'],
    ['preferred style sheets', '<style title=mine>p { color: blue }</style><p>x'],
    ['colours of links', '<body link=red vlink=red text=red>x'],
  ] as const) {
    it(`keep the ${what} of one still document from the next`, async () => {
      const second = '<style title=other>p { background: #0f0 }</style><body><p>x <a href="#">y</a>';
      const third = '<body><p>x <a href="#">y</a>';
      for (const html of [second, third]) {
        const alone = await renderPage((await render(bench, html, {}, { accountId: 'alone' })).bytes);
        await render(bench, first, {}, { accountId: what });
        const after = await renderPage((await render(bench, html, {}, { accountId: what })).bytes);
        assert.equal(after.countInk(), alone.countInk());
        for (const colour of [
          [255, 0, 0],
          [0, 255, 0],
        ] as const) {
          assert.equal(after.countColor(colour, 60), alone.countColor(colour, 60));
        }
      }
    });
  }

  it('are not used after a failed job', async () => {
    await render(bench, '<p>x', {}, { accountId: 'failing' });
    const before = new Set(browserProcesses());
    await failure(render(bench, '<script>for (;;);</script>', {}, { accountId: 'failing', timeoutMs: 1000 }));
    await render(bench, '<p>x', {}, { accountId: 'failing' });
    assert.ok(
      browserProcesses().some((pid) => !before.has(pid)),
      'another process',
    );
  });
});

function renderers(): number {
  return rendererProcesses().length;
}
