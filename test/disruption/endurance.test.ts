import assert from 'node:assert/strict';
import { descendants } from '../support/processes.ts';
import { openStandaloneService, type TestService } from '../support/service.ts';
import { treeMemory } from '../support/tree-memory.ts';

const RENDERS = 1000;
const CALLERS = 4;
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** How much y grows with x: the slope of the straight line with the least squares. One page ahead more or less, in one sample, hardly shows in it. */
function slope(points: readonly (readonly [x: number, y: number])[]): number {
  const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const x0 = mean(points.map(([x]) => x));
  const y0 = mean(points.map(([, y]) => y));
  return mean(points.map(([x, y]) => (x - x0) * (y - y0))) / mean(points.map(([x]) => (x - x0) ** 2));
}

describe('a thousand renders, one in twenty cancelled or timed out', function () {
  this.timeout(600_000);
  let service: TestService;
  before(async () => {
    // Garbage is collected early, so that what is left over shows.
    service = await openStandaloneService({
      NODE_OPTIONS: '--max-semi-space-size=2 --max-old-space-size=128',
    });
  });
  after(() => service?.stop());

  it('leave no process behind, and less than a tenth of a megabyte each', async () => {
    const { client } = await service.newTenant('professional');
    const { pid } = service.roles.get('standalone')!;
    const one = async (i: number) => {
      if (i % 40 === 10) {
        const jobId = await client.order({
          html: '<script>for (;;);</script>',
          options: { timeoutMs: 30_000 },
        });
        await pause(150);
        assert.equal((await client.call('DELETE', `/v1/pdf/jobs/${jobId}`)).status, 200);
        return;
      }
      if (i % 40 === 30) {
        const answer = await client.render({
          html: '<p>x</p>',
          // Enough for a busy machine to come as far as to wait for it.
          options: { waitForSelector: '#no', timeoutMs: 3000 },
        });
        assert.equal(answer.json.code, 'SELECTOR_TIMEOUT');
        return;
      }
      const answer = await client.render({ html: `<h1>Render ${i}</h1>`, options: { format: 'A5' } });
      assert.equal(answer.status, 200, Buffer.from(answer.bytes).toString().slice(0, 200));
    };
    let next = 0;
    const until = async (end: number) => {
      await Promise.all(
        Array.from({ length: CALLERS }, async () => {
          while (next < end) {
            next += 1;
            await one(next - 1);
          }
        }),
      );
    };
    const samples: { renders: number; processes: number; memory: number }[] = [];
    // The first hundred fills caches and pools, and is not compared.
    for (let renders = 100; renders <= RENDERS; renders += 100) {
      await until(renders);
      await pause(2000);
      samples.push({ renders, processes: descendants(pid).length, memory: treeMemory([pid]) / 1024 / 1024 });
    }
    const compared = samples.slice(1);
    const grown = slope(compared.map(({ renders, memory }) => [renders, memory]));
    const added = slope(compared.map(({ renders, processes }) => [renders, processes]));
    const seen = samples
      .map(({ processes, memory }) => `${processes} with ${memory.toFixed(0)} MiB`)
      .join(', ');
    assert.ok(added < 1 / 400, `${added.toFixed(4)} processes a render: ${seen}`);
    assert.ok(grown < 0.1, `${grown.toFixed(3)} MiB a render: ${seen}`);
  });
});
