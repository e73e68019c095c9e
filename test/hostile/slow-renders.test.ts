import assert from 'node:assert/strict';
import type { Tenant } from '../support/service.ts';
import { type Arena, cancelAll, countIn } from './support/arena.ts';
import { sharedArena } from './support/shared-arena.ts';

/** The longest wait that a document may have, in milliseconds: no render ends before all are cancelled. */
const SLOW_RENDER_MS = 60_000;
/** More than the plan's and the worker's slots. */
const SLOW_RENDERS = 100;
const ATTACKERS = 10;
/** Endless templates of each attacker. Each runs for ten seconds: see src/worker/render-attempt.ts. */
const EACH = 2;
/** Renders of the neighbour during slow renders, and during endless templates. */
const RENDERS = 10;
const TEMPLATES = 3;
const ENDED = ['completed', 'failed'];

describe('Renders during slow renders of other accounts', () => {
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
      const submission = { executionMode: 'sync', templateId, data: { number } };
      const { status, bytes } = await neighbour.client.render(submission);
      assert.equal(status, 200, Buffer.from(bytes).toString('latin1').slice(0, 300));
    }
  }

  it('wait for none of a hundred slow renders of one account', () =>
    arena.withstand(async (attacker) => {
      const body = { html: '<p>x', options: { delayMs: SLOW_RENDER_MS } };
      const jobs = await Promise.all(
        Array.from({ length: SLOW_RENDERS }, () => attacker.client.submit(body)),
      );
      await renderTemplates(RENDERS);
      assert.equal(await countIn(attacker, jobs, ENDED), 0);
      await cancelAll(attacker, jobs);
    }));

  it('of templates complete during twenty endless templates of ten accounts', () =>
    arena.withstand(
      async (attacker) => {
        const attackers = [attacker];
        while (attackers.length < ATTACKERS) attackers.push(await arena.service.newTenant('business'));
        // A single range with as many numbers would exceed the memory of a template, and end at once.
        const endless = '{% for a in (1..10000) %}{% for b in (1..10000) %}{% endfor %}{% endfor %}';
        const sent = attackers.map(async (each) => {
          const { templateId } = await arena.service.saveTemplate(each, endless);
          const submit = () => each.client.submit({ templateId, data: {} });
          return { each, jobs: await Promise.all(Array.from({ length: EACH }, submit)) };
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
