import assert from 'node:assert/strict';
import { eventually } from '../support/eventually.ts';
import { type Arena, cancelAll, countIn } from './support/arena.ts';
import { FLOOD_CALLERS, FLOODS, type Flood } from './support/floods.ts';
import { sharedArena } from './support/shared-arena.ts';

/** Of the neighbour's, beside a flood. */
const RENDERS = 8;
const HUNG_MS = 120_000;
const ENDED = ['completed', 'failed', 'cancelled'];

describe('a neighbour of many callers with hostile documents', function () {
  this.timeout(300_000);
  let arena: Arena;
  before(async () => {
    arena = await sharedArena();
  });

  const beside = ({ html, options, isEndless }: Flood) =>
    arena.withstand(
      async (attacker, { renders }) => {
        const order = { html, options: { ...options, timeoutMs: 300_000 } };
        const orders = Array.from({ length: FLOOD_CALLERS }, () => attacker.client.order(order));
        const jobs = await Promise.all(orders);
        const under = async () => (await countIn(attacker, jobs, ['processing'])) > 1;
        await eventually('some of them are rendered', under, HUNG_MS);
        const already = renders.length;
        const served = () => renders.length >= already + RENDERS;
        await eventually(`${RENDERS} renders of the neighbour`, served, HUNG_MS);
        const ended = await countIn(attacker, jobs, ENDED);
        await cancelAll(attacker, jobs);
        assert.ok(isEndless ? ended === 0 : ended < jobs.length, `${ended} of them had ended before`);
      },
      { accounts: FLOOD_CALLERS },
    );

  for (const flood of FLOODS)
    it(`has its renders before theirs have ended, beside ${flood.name}`, () => beside(flood));
});
