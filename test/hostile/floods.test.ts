import assert from 'node:assert/strict';
import { eventually } from '../support/eventually.ts';
import { type Arena, cancelAll, countIn } from './support/arena.ts';
import { FLOOD_CALLERS, FLOODS, type Flood } from './support/floods.ts';
import { sharedArena } from './support/shared-arena.ts';

/** Renders of the neighbour during a flood. */
const RENDERS = 8;
const ENDED = ['completed', 'failed', 'cancelled'];

describe('Renders during floods of hostile documents', () => {
  let arena: Arena;
  before(async () => {
    arena = await sharedArena();
  });

  const concurrent = ({ html, options, isEndless }: Flood) =>
    arena.withstand(
      async (attacker, { renders }) => {
        const submission = { html, options: { ...options, timeoutMs: 300_000 } };
        const submissions = Array.from({ length: FLOOD_CALLERS }, () => attacker.client.submit(submission));
        const jobs = await Promise.all(submissions);
        const under = async () => (await countIn(attacker, jobs, ['processing'])) > 1;
        await eventually('some of them are rendered', under);
        const already = renders.length;
        const served = () => renders.length >= already + RENDERS;
        await eventually(`${RENDERS} renders of the neighbour`, served);
        const ended = await countIn(attacker, jobs, ENDED);
        await cancelAll(attacker, jobs);
        assert.ok(isEndless ? ended === 0 : ended < jobs.length, `${ended} of them had ended before`);
      },
      { accounts: FLOOD_CALLERS },
    );

  for (const flood of FLOODS)
    it(`complete before the hostile ones have ended, during ${flood.name}`, () => concurrent(flood));
});
