import assert from 'node:assert/strict';
import type { Tenant } from '../support/service.ts';
import { type Arena, openArena } from './support/arena.ts';

/** As long as each of the slow renders takes: none ends before all are cancelled. Milliseconds. */
const SLOW_RENDER_MS = 25_000;
/** Whoever waits for one of them to end waits for longer, and a busy machine takes less for a render. Milliseconds. */
const LONGEST_MS = 10_000;
/** More than a plan has under way at a time, and than the worker has slots. */
const SLOW_RENDERS = 100;
/** As long as an endless template goes on: see src/worker/render-attempt.ts. Milliseconds. */
const TEMPLATE_MS = 10_000;
const ATTACKERS = 10;
const RENDERS = 20;

async function cancelAll({ client }: Tenant, jobs: readonly string[]): Promise<void> {
  await Promise.all(jobs.map((jobId) => client.call('DELETE', `/v1/pdf/jobs/${jobId}`)));
}

describe('a neighbour of accounts with slow orders', function () {
  this.timeout(240_000);
  let arena: Arena;
  let neighbour: Tenant;
  let templateId: string;
  before(async () => {
    arena = await openArena({ PLATEN_WORKER_SLOTS: '16' });
    neighbour = await arena.service.newTenant('business');
    ({ templateId } = await arena.service.saveTemplate(neighbour, '<h1>Invoice {{ number }}</h1>'));
    await longestOf(3);
  });
  after(() => arena?.close());

  /** The longest of so many renders of the neighbour's template, in milliseconds. */
  async function longestOf(renders: number): Promise<number> {
    let longest = 0;
    for (let number = 1; number <= renders; number++) {
      const began = performance.now();
      const { status, bytes } = await neighbour.client.render({
        executionMode: 'sync',
        templateId,
        data: { number },
      });
      assert.equal(status, 200, Buffer.from(bytes).toString('latin1').slice(0, 300));
      longest = Math.max(longest, performance.now() - began);
    }
    return longest;
  }

  it('waits for none of a hundred slow renders of one account', () =>
    arena.withstand(async (attacker) => {
      const body = { html: '<p>x', options: { delayMs: SLOW_RENDER_MS } };
      const jobs = await Promise.all(Array.from({ length: SLOW_RENDERS }, () => attacker.client.order(body)));
      const longest = await longestOf(RENDERS);
      assert.ok(longest < LONGEST_MS, `a render waited ${longest} ms`);
      await cancelAll(attacker, jobs);
    }));

  it('waits for its template no longer than one of twenty endless ones takes, of ten accounts', () =>
    arena.withstand(async (attacker) => {
      const attackers = [attacker];
      while (attackers.length < ATTACKERS) attackers.push(await arena.service.newTenant('business'));
      const endless = '{% for i in (1..100000000) %}{{ i }}{% endfor %}';
      const sent = attackers.map(async (each) => {
        const { templateId } = await arena.service.saveTemplate(each, endless);
        const order = () => each.client.order({ templateId, data: {} });
        return { each, jobs: await Promise.all([order(), order()]) };
      });
      const all = await Promise.all(sent);
      const longest = await longestOf(RENDERS);
      assert.ok(longest < TEMPLATE_MS, `a template waited ${longest} ms`);
      await Promise.all(all.map(({ each, jobs }) => cancelAll(each, jobs)));
    }));
});
