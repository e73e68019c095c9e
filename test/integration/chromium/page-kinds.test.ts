import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Cores } from '../../../src/infra/scheduling/cores.ts';
import { RenderBrowser } from '../../../src/render/chromium/browsers/browser.ts';
import { CancelScope } from '../../../src/render/chromium/cancel-scope.ts';
import { leaseOf } from '../../../src/render/chromium/contexts/context-lease.ts';
import { RenderContext } from '../../../src/render/chromium/contexts/render-context.ts';
import { BlockedRenders } from '../../../src/render/chromium/cpu/blocked-budget.ts';
import { ComputePermit } from '../../../src/render/chromium/cpu/compute-permit.ts';
import { examineDocument } from '../../../src/render/chromium/job/document/job-document.ts';
import { printPage } from '../../../src/render/chromium/job/print/print.ts';
import { SheetCache } from '../../../src/render/chromium/job/print/sheet.ts';
import { type RenderDeps, renderJob } from '../../../src/render/chromium/job/render-job.ts';
import { ReportCollector } from '../../../src/render/chromium/job/report-collector.ts';
import { DOCUMENT_ORIGIN } from '../../../src/render/chromium/page/document-origin.ts';
import { findBrowser } from '../../../src/render/chromium/process/find-browser.ts';
import { launchBrowser } from '../../../src/render/chromium/process/launch.ts';
import { printSettings } from '../../../src/render/options/all/stages.ts';
import { createPdfFinisher } from '../../../src/render/pdf/finish.ts';
import type { RenderRequest } from '../../../src/render/renderer.ts';
import { assertAlike, difference, readDocuments, TOLERANCE } from './fixture-documents.ts';

const OPTIONS = { preferCSSPageSize: true };
const MAX_BYTES = 50 * 1024 * 1024;
const DEPS: RenderDeps = {
  hyphenated: [],
  egress: undefined,
  sheets: new SheetCache(),
  finisher: createPdfFinisher({ processes: 1 }),
};

/** Two animation frames after its fonts have come. */
const DRAWN = `document.fonts.ready.then(() =>
  new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))))`;
/** Documents that come to rest by themselves, within this time. */
const MOVING_MS = 4000;
const MOVING = [
  'animation-counter.html',
  'animation-css.html',
  'animation-script.html',
  'animation-smil.html',
  'canvas-grows.html',
  'chartjs-bar.html',
  'starting-style.html',
  'transition-class.html',
];
/** Shown when it is scrolled to, which nobody does in an ordinary page. */
const SCROLLED_TO = 'reveal-on-scroll.html';
/** Documents that do look otherwise in a page that draws no frames, which is not the one that they are given. */
const FRAME_BOUND = ['component-observer.html', SCROLLED_TO];
describe('real-looking documents', () => {
  const documents = readDocuments();
  const atRest = new Map<string, Promise<Buffer>>();
  const kept = new Map<boolean, RenderContext>();
  const cores = new Cores(1);
  let userDataRoot: string;
  let browser: RenderBrowser;

  before(async () => {
    userDataRoot = mkdtempSync(join(tmpdir(), 'platen-test-'));
    const browserPath = process.env.PLATEN_CHROMIUM_PATH;
    const binary = await findBrowser({ browserPath, warn: () => undefined });
    browser = new RenderBrowser(await launchBrowser({ binary, userDataRoot, timeoutMs: 60_000 }), Date.now());
    for (const name of MOVING) {
      const printing = printPlainly(documents.get(name)!, MOVING_MS);
      printing.catch(() => undefined);
      atRest.set(name, printing);
    }
  });
  after(async () => {
    await Promise.allSettled(atRest.values());
    await browser.kill('the tests are over');
    rmSync(userDataRoot, { recursive: true, force: true });
  });

  /** Renders it in a page of this kind, whichever it would be given. */
  async function renderIn(needsFrames: boolean, html: string): Promise<Buffer> {
    const context = kept.get(needsFrames) ?? (await RenderContext.open(browser, needsFrames));
    kept.delete(needsFrames);
    const request: RenderRequest = {
      jobId: 'job',
      accountId: 'a',
      source: { kind: 'html', html },
      options: OPTIONS,
      deadline: Date.now() + 60_000,
      maxOutputBytes: MAX_BYTES,
      signal: new AbortController().signal,
    };
    const end = new CancelScope(request.deadline, request.signal);
    const permit = new ComputePermit(
      cores,
      new BlockedRenders(),
      { account: 'a', priority: 'interactive' },
      end,
    );
    try {
      await permit.acquire();
      const lease = leaseOf(context, permit, end, async () => undefined);
      const document = examineDocument(request.source, OPTIONS);
      const { result, clean } = await renderJob(
        lease,
        { request, document, end, collector: new ReportCollector() },
        DEPS,
      );
      if (clean && context.usable) kept.set(needsFrames, context);
      else await context.close();
      return Buffer.from(result.bytes);
    } finally {
      permit.release();
      end.dispose();
    }
  }

  /**
   * What Chromium prints of it in an ordinary page, `waitMs` after it has loaded with its fonts and drawn two frames.
   */
  async function printPlainly(html: string, waitMs: number): Promise<Buffer> {
    const contextId = await browser.openContext({ targetAppeared: () => undefined });
    try {
      const { session } = await browser.openPage(contextId, true);
      session.on('Fetch.requestPaused', ({ requestId }) => {
        const responseHeaders = [{ name: 'Content-Type', value: 'text/html; charset=utf-8' }];
        const body = Buffer.from(html).toString('base64');
        session
          .send('Fetch.fulfillRequest', { requestId, responseCode: 200, responseHeaders, body })
          .catch(() => undefined);
      });
      const loaded = new Promise((resolve) => session.once('Page.loadEventFired', resolve));
      await session.send('Page.enable');
      await session.send('Fetch.enable', { patterns: [{ urlPattern: `${DOCUMENT_ORIGIN}/*` }] });
      await session.send('Page.navigate', { url: `${DOCUMENT_ORIGIN}/` });
      await loaded;
      await session.send('Runtime.evaluate', { expression: DRAWN, awaitPromise: true });
      await pause(waitMs);
      return await printPage({ session }, printSettings(OPTIONS), MAX_BYTES);
    } finally {
      await browser.closeContext(contextId);
    }
  }

  for (const [name, html] of documents) {
    it(`${name} looks the same in both kinds of page, and in Chromium's own`, async () => {
      const framed = await renderIn(true, html);
      if (!examineDocument({ kind: 'html', html }, OPTIONS).needsFrames) {
        await assertAlike(await renderIn(false, html), framed, 'without frames and with them');
      }
      if (name === SCROLLED_TO) return;
      const plain = await (atRest.get(name) ?? printPlainly(html, 0));
      // An ordinary page may still have been on its way.
      const isAlike = (await difference(framed, plain)) <= TOLERANCE;
      if (!isAlike) await assertAlike(framed, await printPlainly(html, MOVING_MS), 'here and in Chromium');
    });
  }

  it('have the focus that they ask for, each time', async () => {
    const html = documents.get('form-autofocus.html')!;
    const plain = await printPlainly(html, 1000);
    for (let i = 0; i < 10; i++) await assertAlike(await renderIn(true, html), plain, `in render ${i}`);
  });

  it('are as many as have been promised', () => assert.ok(documents.size >= 60));

  for (const name of FRAME_BOUND) {
    it(`${name} needs frames`, async () => {
      const html = documents.get(name)!;
      const part = await difference(await renderIn(false, html), await renderIn(true, html));
      // Browsers without such pages print it in one with frames all the same.
      assert.equal(part > TOLERANCE, !browser.drawsFrames(false), `${part} of the pixels differ`);
    });
  }
});
