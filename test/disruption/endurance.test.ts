import assert from 'node:assert/strict';
import { descendants } from '../support/processes.ts';
import { openStandaloneService, type TestService } from '../support/service.ts';
import { treeMemory } from '../support/tree-memory.ts';

const RENDERS = 1000;
const CALLERS = 4;
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

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

  it('leave as many processes and as much memory as the first hundred did', async () => {
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
          options: { waitForSelector: '#no', timeoutMs: 1000 },
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
    const settled = async () => {
      await pause(3000);
      return { processes: descendants(pid).length, memory: treeMemory([pid]) };
    };
    await until(100);
    const early = await settled();
    await until(RENDERS);
    const late = await settled();
    const mib = (bytes: number) => Math.round(bytes / 1024 / 1024);
    assert.ok(late.processes <= early.processes + 1, `${early.processes} processes, then ${late.processes}`);
    // What leaks a tenth of a megabyte per render would show as ninety megabytes.
    assert.ok(late.memory <= early.memory * 1.15, `${mib(early.memory)} MiB, then ${mib(late.memory)} MiB`);
  });
});
