import assert from 'node:assert/strict';
import { ProcessorUse } from '../../../src/chromium/cpu/processor-use.ts';

/** A page of which it is said what it computes, and a clock. */
class SampledPage {
  now = 0;
  pid = 7;
  processorMs = 3000;
  mainThreadMs = 2000;
  known = true;
  readonly use = new ProcessorUse(this, () => this.now);

  get process() {
    const { pid, processorMs, mainThreadMs } = this;
    return this.known ? { sample: () => ({ pid, processorMs, resolutionMs: 10, mainThreadMs }) } : undefined;
  }

  /** Milliseconds go by. @returns whether the page is found to have waited. */
  after(ms: number): boolean {
    this.now += ms;
    return this.use.waits();
  }
}

describe('whether a page computes or waits', () => {
  let page: SampledPage;

  beforeEach(() => {
    page = new SampledPage();
  });
  afterEach(() => page.use.stop());

  it('is not known from one sample', () => {
    assert.equal(page.after(0), false);
    assert.equal(page.after(50), true);
  });

  it('is known from the first check, because a sample is taken before', async () => {
    await new Promise((resolve) => setTimeout(resolve, 60));
    assert.equal(page.after(50), true);
  });

  it('is no longer sampled once it is stopped', async () => {
    page.use.stop();
    await new Promise((resolve) => setTimeout(resolve, 60));
    assert.equal(page.after(50), false);
  });

  it('is known by its main thread, which also computes while it waits for a core', () => {
    page.after(0);
    page.mainThreadMs += 12;
    assert.equal(page.after(50), true);
    page.mainThreadMs += 13;
    assert.equal(page.after(50), false);
  });

  it('is known by the processor time of all threads, beyond the resolution of that', () => {
    page.after(0);
    page.processorMs += 20;
    assert.equal(page.after(50), true);
    page.processorMs += 30;
    assert.equal(page.after(50), false);
  });

  it('is not known across two processes', () => {
    page.after(0);
    page.pid = 8;
    assert.equal(page.after(50), false);
    assert.equal(page.after(50), true);
  });

  it('is not known while its process is not', () => {
    page.after(0);
    page.known = false;
    assert.equal(page.after(50), false);
    page.known = true;
    assert.equal(page.after(50), false);
    assert.equal(page.after(50), true);
  });

  it('is found out anew after a restart', () => {
    page.after(0);
    page.mainThreadMs += 1000;
    page.now += 50;
    page.use.restart();
    assert.equal(page.after(50), true);
  });
});
