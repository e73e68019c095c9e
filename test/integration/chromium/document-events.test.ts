import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Cores } from '../../../src/infra/scheduling/cores.ts';
import { RenderBrowser } from '../../../src/render/chromium/browsers/browser.ts';
import { CancelScope } from '../../../src/render/chromium/cancel-scope.ts';
import { leaseOf } from '../../../src/render/chromium/contexts/context-lease.ts';
import { RenderContext } from '../../../src/render/chromium/contexts/render-context.ts';
import { BlockedRenders } from '../../../src/render/chromium/cpu/blocked-budget.ts';
import { ComputePermit } from '../../../src/render/chromium/cpu/compute-permit.ts';
import {
  type DocumentTraits,
  documentTraits,
} from '../../../src/render/chromium/job/document/document-traits.ts';
import { examineDocument } from '../../../src/render/chromium/job/document/job-document.ts';
import { printPage } from '../../../src/render/chromium/job/print/print.ts';
import { SheetCache } from '../../../src/render/chromium/job/print/sheet.ts';
import { renderJob } from '../../../src/render/chromium/job/render-job.ts';
import { ReportCollector } from '../../../src/render/chromium/job/report-collector.ts';
import { MAX_MESSAGE_BYTES } from '../../../src/render/chromium/process/bounded-pipe.ts';
import { findBrowser } from '../../../src/render/chromium/process/find-browser.ts';
import { launchBrowser } from '../../../src/render/chromium/process/launch.ts';
import { isRenderer, killProcess, processTree } from '../../../src/render/chromium/process/processes.ts';
import { createPdfFinisher } from '../../../src/render/pdf/finish.ts';
import type { RenderRequest } from '../../../src/render/renderer.ts';
import { readPdf } from '../../support/pdf.ts';

const PLAIN = '<p>nothing to tell';
const SCRIPTED = `<p id=p>before<script>
requestAnimationFrame(() => requestAnimationFrame(() => { p.textContent = 'drawn'; console.log('x'); }));
</script>`;
const IMAGE = '<p>an image<img src="http://127.0.0.1:9/none.png">';
/** Runs in the document: the width of its picture, once it can be drawn. */
const DECODED = '() => document.images[0].decode().then(() => document.images[0].naturalWidth)';
const MAX_BYTES = 64 * 1024 * 1024;
const EVENTS = ['Page.lifecycleEvent', 'Page.loadEventFired', 'Page.documentOpened'] as const;

/** A bitmap of random pixels, which no filter makes smaller (BITMAPINFOHEADER, 24 bits a pixel). */
function noise(side: number): Buffer {
  const header = Buffer.alloc(54);
  const pixels = randomBytes(side * side * 3);
  header.write('BM');
  header.writeUInt32LE(header.length + pixels.length, 2);
  header.writeUInt32LE(header.length, 10);
  header.writeUInt32LE(40, 14);
  header.writeInt32LE(side, 18);
  header.writeInt32LE(side, 22);
  header.writeUInt16LE(1, 26);
  header.writeUInt16LE(24, 28);
  return Buffer.concat([header, pixels]);
}

describe('what becomes of documents, in a page without frames', () => {
  const cores = new Cores(1);
  let userDataRoot: string;
  let browser: RenderBrowser;
  let context: RenderContext;
  let reported: string[] = [];
  /** An ordinary Chromium has no such pages; in its own ones everything is told. */
  const reportedAnyway = () => browser.drawsFrames(false);

  before(async () => {
    userDataRoot = mkdtempSync(join(tmpdir(), 'platen-test-'));
    const browserPath = process.env.PLATEN_CHROMIUM_PATH;
    const binary = await findBrowser({ browserPath, warn: () => undefined });
    browser = new RenderBrowser(await launchBrowser({ binary, userDataRoot, timeoutMs: 60_000 }), Date.now());
  });
  beforeEach(async () => {
    context = await RenderContext.open(browser, false);
    reported = [];
    for (const event of EVENTS) context.page.session.on(event, () => reported.push(event));
  });
  afterEach(() => context?.close());
  after(async () => {
    await browser.kill('the tests are over');
    rmSync(userDataRoot, { recursive: true, force: true });
  });

  /** The commands that its page sends from now on. */
  function commandsSent(): string[] {
    const { session } = context.page;
    const sent: string[] = [];
    const send = session.send.bind(session);
    session.send = (method, ...rest) => {
      sent.push(method);
      return send(method, ...rest);
    };
    return sent;
  }

  async function setContent(html: string): Promise<void> {
    const { session, frameId } = context.page;
    await session.send('Page.setDocumentContent', { frameId, html });
  }

  async function renderHere(html: string, foretold: Partial<DocumentTraits> = {}) {
    const request: RenderRequest = {
      jobId: 'job',
      accountId: 'a',
      source: { kind: 'html', html },
      options: { delayMs: 200 },
      deadline: Date.now() + 60_000,
      maxOutputBytes: 1024 * 1024,
      signal: new AbortController().signal,
    };
    const end = new CancelScope(request.deadline, request.signal);
    const permit = new ComputePermit(
      cores,
      new BlockedRenders(),
      { account: 'a', priority: 'interactive' },
      end,
    );
    const examined = examineDocument(request.source, request.options);
    const document = { ...examined, traits: { ...documentTraits(html), ...foretold } };
    const job = { request, document, end, collector: new ReportCollector() };
    try {
      await permit.acquire();
      const lease = leaseOf(context, permit, end, async () => undefined);
      const { result, clean } = await renderJob(lease, job, {
        hyphenated: [],
        egress: undefined,
        sheets: new SheetCache(),
        finisher: createPdfFinisher({ processes: 1 }),
      });
      return { text: (await readPdf(result.bytes)).text, clean };
    } finally {
      permit.release();
      end.dispose();
    }
  }

  it('is told of those alone that run script or load something, in any order', async () => {
    for (const [html, text, reports] of [
      [PLAIN, 'nothing to tell', false],
      [SCRIPTED, 'drawn', true],
      [SCRIPTED, 'drawn', true],
      [PLAIN, 'nothing to tell', false],
      [IMAGE, 'an image', true],
      [PLAIN, 'nothing to tell', false],
      [SCRIPTED, 'drawn', true],
    ] as const) {
      reported = [];
      const rendered = await renderHere(html);
      assert.match(rendered.text, new RegExp(text));
      assert.ok(rendered.clean);
      assert.equal(reported.length > 0, reports || reportedAnyway(), `${html}: ${reported}`);
    }
  });

  it('is not known of one that loads something against expectation: its page is not used again', async () => {
    assert.equal((await renderHere(IMAGE, { loads: false })).clean, reportedAnyway());
  });

  it('is not asked for once more when a PDF has come whole', async () => {
    await setContent(PLAIN);
    const asked = commandsSent();
    const pdf = await printPage(context.page, {}, 1024 * 1024);
    assert.match((await readPdf(pdf)).text, /nothing to tell/);
    assert.deepEqual(asked.splice(0), ['Page.printToPDF', 'IO.read', 'IO.close']);
    const next = await printPage(context.page, {}, 1024 * 1024);
    assert.match((await readPdf(next)).text, /nothing to tell/);
    assert.deepEqual(asked, ['Page.printToPDF']);
  });

  it('is printed in pieces when it does not fit into a message, although the one before did', async () => {
    await setContent(PLAIN);
    await printPage(context.page, {}, MAX_BYTES);
    const picture = noise(1800).toString('base64');
    await setContent(`<p>large</p><img src="data:image/bmp;base64,${picture}" width="500">`);
    assert.equal(await context.page.runIsolated(DECODED), 1800);
    const asked = commandsSent();
    const pdf = await printPage(context.page, {}, MAX_BYTES);
    assert.ok(pdf.byteLength > MAX_MESSAGE_BYTES, `${pdf.byteLength} bytes`);
    assert.match((await readPdf(pdf)).text, /large/);
    assert.deepEqual(asked.slice(0, 3), ['Page.printToPDF', 'Page.printToPDF', 'IO.read']);
    assert.equal(context.usable, true);
  });

  it('is asked for by no command of an option that is not given', async () => {
    await renderHere(PLAIN);
    const asked = commandsSent();
    assert.match((await renderHere(PLAIN)).text, /nothing to tell/);
    const known = ['Page.setDocumentContent', 'Page.printToPDF', 'IO.read', 'IO.close', 'Runtime.evaluate'];
    // The last one goes to a page whose step takes long, on a busy machine.
    const others = asked.filter((method) => !known.includes(method) && method !== 'Runtime.getIsolateId');
    assert.deepEqual(others, []);
    assert.equal(asked.filter((method) => method === 'Page.printToPDF').length, 1);
  });

  it('is known when its process dies, whether or not anything else is told', async () => {
    const dead = new Promise<Error>((resolve) => context.page.watch(resolve));
    assert.equal(context.page.reportsDocuments, reportedAnyway());
    for (const { pid } of processTree(browser.pid)) if (isRenderer(pid)) killProcess(pid);
    assert.equal(((await dead) as { code?: string }).code, 'BROWSER_CRASHED');
  });
});
