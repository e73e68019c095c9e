import assert from 'node:assert/strict';
import type { CDPSession } from 'puppeteer';
import { ProcessorUse } from '../../../src/render/chromium/cpu/processor-use.ts';

/** A page of which it is said what it computes, and a clock. */
class SampledPage {
  now = 0;
  pid = 7;
  processorMs = 3000;
  mainThreadMs = 2000;
  runnable = false;
  known = true;
  responds = Promise.withResolvers<void>();
  readonly session: Pick<CDPSession, 'send'> = {
    send: (() => this.responds.promise) as unknown as CDPSession['send'],
  };
  readonly use = new ProcessorUse(this, () => this.now);

  get process() {
    const { pid, processorMs, mainThreadMs, runnable } = this;
    const sample = { pid, processorMs, mainThreadMs, runnable };
    return this.known ? { sample: () => sample } : undefined;
  }

  /** Milliseconds go by. @returns whether the page is found to have waited. */
  after(ms: number): boolean {
    this.now += ms;
    return this.use.waits();
  }
}

describe('whether a page computes or waits', () => {
  let page: SampledPage;

  const soon = () => new Promise((resolve) => setTimeout(resolve, 60));

  /** From here on the page is sampled. */
  beforeEach(async () => {
    page = new SampledPage();
    page.responds.resolve();
    await soon();
  });
  afterEach(() => page.use.stop());

  it('is known from the first check, because a sample is taken before', () => {
    assert.equal(page.after(50), true);
  });

  it('is not known before the page has responded, and so begun', async () => {
    const late = new SampledPage();
    await soon();
    assert.equal(late.after(50), false);
    assert.equal(late.after(50), false);
    late.responds.resolve();
    await soon();
    assert.equal(late.after(50), true);
  });

  it('is asked again of a page that has been replaced before it responded', async () => {
    const replaced = new SampledPage();
    replaced.responds.reject(new Error('between two documents'));
    await soon();
    replaced.responds = Promise.withResolvers();
    replaced.responds.resolve();
    assert.equal(replaced.after(50), false);
    await soon();
    assert.equal(replaced.after(50), true);
  });

  it('is no longer sampled once it is stopped', async () => {
    const stopped = new SampledPage();
    stopped.use.stop();
    let asked = 0;
    stopped.session.send = (async () => {
      asked += 1;
    }) as unknown as CDPSession['send'];
    await soon();
    assert.equal(asked, 0);
  });

  it('is known by its main thread, which also computes while it waits for a core', () => {
    page.mainThreadMs += 12;
    assert.equal(page.after(50), true);
    page.mainThreadMs += 13;
    assert.equal(page.after(50), false);
  });

  it('is known from a main thread that has got no core for the whole time', () => {
    page.runnable = true;
    assert.equal(page.after(50), false);
    page.runnable = false;
    assert.equal(page.after(50), true);
  });

  it('is known by the processor time of all threads, beyond the resolution of that', () => {
    page.processorMs += 20;
    assert.equal(page.after(50), true);
    page.processorMs += 30;
    assert.equal(page.after(50), false);
  });

  it('is not known across two processes', () => {
    page.pid = 8;
    assert.equal(page.after(50), false);
    assert.equal(page.after(50), true);
  });

  it('is not known while its process is not', () => {
    page.known = false;
    assert.equal(page.after(50), false);
    page.known = true;
    assert.equal(page.after(50), false);
    assert.equal(page.after(50), true);
  });

  it('is found out anew after a restart', () => {
    page.mainThreadMs += 1000;
    page.now += 50;
    page.use.restart();
    assert.equal(page.after(50), true);
  });
});
