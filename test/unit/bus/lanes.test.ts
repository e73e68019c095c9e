import assert from 'node:assert/strict';
import { laneOf } from '../../../src/infra/bus/lanes.ts';

const lanesUpTo = (count: number) => Array.from({ length: count }, (_, lane) => lane);
const KEYS = Array.from({ length: 20_000 }, (_, n) => `acc_${n.toString(36)}:${n % 3}`);
const RENDERS = 60_000;
/** Of contexts that a worker keeps warm, in the simulation. */
const CONTEXTS = 200;

describe('The lane of a key', () => {
  for (const [from, to] of [
    [1, 2],
    [10, 11],
    [300, 301],
    [1000, 1001],
  ] as const) {
    it(`stays when ${from} workers become ${to}, unless it goes to the new one, which gets its share`, () => {
      const [before, after] = [lanesUpTo(from), lanesUpTo(to)];
      const moved = KEYS.filter((key) => laneOf(key, before) !== laneOf(key, after));
      assert.ok(moved.every((key) => laneOf(key, after) === from));
      const share = KEYS.length / to;
      assert.ok(Math.abs(moved.length - share) < 5 * Math.sqrt(share) + 1, `${moved.length} of ${share}`);
    });
  }

  it('is another one of the rest when its worker has gone, and the same again when it is back', () => {
    const lanes = lanesUpTo(50);
    const without = lanes.filter((lane) => lane !== 7);
    const reversed = [...lanes].reverse();
    for (const key of KEYS.slice(0, 5000)) {
      const [all, rest] = [laneOf(key, lanes), laneOf(key, without)];
      assert.ok(all === rest || all === 7);
      assert.equal(laneOf(key, reversed), all, 'in whichever order they are read');
    }
  });

  it('is shared evenly by accounts with similar names, and by the shards of one', () => {
    for (const key of [(n: number) => `acc_${1000 + n}:0`, (n: number) => `acc_1:${n}`]) {
      const counts = new Array<number>(20).fill(0);
      const lanes = lanesUpTo(20);
      for (let n = 0; n < 20_000; n += 1) counts[laneOf(key(n), lanes)]! += 1;
      assert.ok(Math.min(...counts) > 800 && Math.max(...counts) < 1200, counts.join(' '));
    }
  });

  it('keeps contexts warm: of 300 workers that become 301, at least 0.95 as many renders are warm', () => {
    const lanesOf: Record<number, number[]> = { 300: lanesUpTo(300), 301: lanesUpTo(301) };
    const warm = Array.from({ length: 301 }, () => new Set<string>());
    /** The share of renders that met the context of their account. */
    const render = (workers: number, seed: number) => {
      let met = 0;
      for (let n = 0; n < RENDERS; n += 1) {
        const key = KEYS[(n * 7919 + seed) % KEYS.length]!;
        const contexts = warm[laneOf(key, lanesOf[workers]!)]!;
        if (contexts.delete(key)) met += 1;
        contexts.add(key);
        // The one that was used longest ago makes room.
        if (contexts.size > CONTEXTS) contexts.delete(contexts.values().next().value!);
      }
      return met / RENDERS;
    };
    render(300, 0);
    const before = render(300, 1);
    const after = render(301, 2);
    assert.ok(before > 0.99, String(before));
    assert.ok(after / before >= 0.95, `${after / before}`);
  });
});
