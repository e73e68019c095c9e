import assert from 'node:assert/strict';
import type { CDPSession } from 'puppeteer';
import { ProcessorUse } from '../../../src/chromium/cpu/processor-use.ts';
import { eventually } from '../../support/eventually.ts';

/** What a page has used of the processor, in seconds, as it tells when it is asked. */
interface Metrics {
  ProcessTime: number;
  TaskDuration: number;
}

describe('whether a page computes or waits', () => {
  let asked: number;
  let use: ProcessorUse;

  /** @param report answers the next reading. */
  const open = (report: () => Metrics) => {
    asked = 0;
    const send = async (method: string) => {
      if (method !== 'Performance.getMetrics') return {};
      asked += 1;
      return { metrics: Object.entries(report()).map(([name, value]) => ({ name, value })) };
    };
    use = new ProcessorUse({ session: { send: send as CDPSession['send'] } });
  };
  afterEach(() => use.stop());
  const firstCheck = () => eventually('it is looked at unasked', () => asked === 1);

  it('is known from the first sample that is requested, because it was sampled before', async () => {
    open(() => ({ ProcessTime: 3, TaskDuration: 2 }));
    await firstCheck();
    assert.equal(use.waits, false, 'one look tells nothing');
    await use.check();
    assert.equal(use.waits, true);
  });

  for (const counted of ['ProcessTime', 'TaskDuration'] as const) {
    it(`is known by ${counted}`, async () => {
      const metrics = { ProcessTime: 3, TaskDuration: 2 };
      open(() => {
        // More than has passed in between.
        metrics[counted] += 1000;
        return { ...metrics };
      });
      await firstCheck();
      await use.check();
      assert.equal(use.waits, false);
    });
  }

  it('is no longer sampled once it is stopped', async () => {
    open(() => ({ ProcessTime: 3, TaskDuration: 2 }));
    use.stop();
    await use.check();
    assert.equal(asked, 1, 'by whom it was asked for alone');
    await new Promise((resolve) => setTimeout(resolve, 60));
    assert.equal(asked, 1);
  });
});
