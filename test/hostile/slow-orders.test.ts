import assert from 'node:assert/strict';
import type { Tenant } from '../support/service.ts';
import { type Arena, cancelAll, countIn } from './support/arena.ts';
import { sharedArena } from './support/shared-arena.ts';

/** The longest that a document may wait for: none ends before all are cancelled. Milliseconds. */
const SLOW_RENDER_MS = 60_000;
/** More than a plan has under way at a time, and than the worker has slots. */
const SLOW_RENDERS = 100;
const ATTACKERS = 10;
/** Endless templates of each of them. Each goes on for ten seconds: see src/worker/render-attempt.ts. */
const EACH = 2;
/** Of the neighbour's, beside slow renders, and beside endless templates. */
const RENDERS = 10;
const TEMPLATES = 3;
const ENDED = ['completed', 'failed'];

describe('a neighbour of accounts with slow orders', function () {
  this.timeout(300_000);
  let arena: Arena;
  let neighbour: Tenant;
  let templateId: string;
  before(async () => {
    arena = await sharedArena();
    neighbour = await arena.service.newTenant('business');
    ({ templateId } = await arena.service.saveTemplate(neighbour, '<h1>Invoice {{ number }}</h1>'));
  });

  async function renderTemplates(count: number): Promise<void> {
    for (let number = 1; number <= count; number++) {
      const order = { executionMode: 'sync', templateId, data: { number } };
      const { status, bytes } = await neighbour.client.render(order);
      assert.equal(status, 200, Buffer.from(bytes).toString('latin1').slice(0, 300));
    }
  }

  it('waits for none of a hundred slow renders of one account', () =>
    arena.withstand(async (attacker) => {
      const body = { html: '<p>x', options: { delayMs: SLOW_RENDER_MS } };
      const jobs = await Promise.all(Array.from({ length: SLOW_RENDERS }, () => attacker.client.order(body)));
      await renderTemplates(RENDERS);
      assert.equal(await countIn(attacker, jobs, ENDED), 0);
      await cancelAll(attacker, jobs);
    }));

  it('has its templates beside twenty endless ones, of ten accounts', () =>
    arena.withstand(
      async (attacker) => {
        const attackers = [attacker];
        while (attackers.length < ATTACKERS) attackers.push(await arena.service.newTenant('business'));
        // One range of as many numbers would be more than a template may have in memory, and end at once.
        const endless = '{% for a in (1..10000) %}{% for b in (1..10000) %}{% endfor %}{% endfor %}';
        const sent = attackers.map(async (each) => {
          const { templateId } = await arena.service.saveTemplate(each, endless);
          const order = () => each.client.order({ templateId, data: {} });
          return { each, jobs: await Promise.all(Array.from({ length: EACH }, order)) };
        });
        const all = await Promise.all(sent);
        await renderTemplates(TEMPLATES);
        const ended = await Promise.all(all.map(({ each, jobs }) => countIn(each, jobs, ENDED)));
        const count = ended.reduce((sum, some) => sum + some, 0);
        assert.ok(count < (ATTACKERS * EACH) / 2, `${count} of the endless ones had ended before`);
        await Promise.all(all.map(({ each, jobs }) => cancelAll(each, jobs)));
      },
      { accounts: ATTACKERS },
    ));
});
