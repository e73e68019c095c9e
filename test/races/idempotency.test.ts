import assert from 'node:assert/strict';
import { PlatenError } from '../../src/infra/errors/registry.ts';
import type { Begun } from '../../src/work/jobs/idempotency-store.ts';
import { type Domain, openDomain } from '../support/domain.ts';
import { startMongo } from '../support/mongo.ts';

describe('Races over idempotency keys', () => {
  let first: Domain;
  let second: Domain;
  before(async () => {
    const { uri } = await startMongo();
    first = await openDomain({ uri });
    second = await openDomain({ uri });
  });
  after(async () => {
    await first.close();
    await second.close();
  });
  const begin = (domain: Domain, key: string) =>
    domain.idempotency.begin('account', '/v1/pdf', key, 'hash').catch((error: unknown) => {
      assert.ok(error instanceof PlatenError);
      return error.code;
    });

  it('run one of two identical concurrent requests at two processes, a thousand times', async () => {
    let secondWon = 0;
    for (let start = 0; start < 1000; start += 20) {
      await Promise.all(
        Array.from({ length: 20 }, async (_, i) => {
          const key = `key-${start + i}`;
          const order = i % 2 ? [first, second] : [second, first];
          const both = await Promise.all(order.map((domain) => begin(domain, key)));
          const runs = both.filter((begun) => typeof begun === 'object');
          assert.equal(runs.length, 1);
          assert.ok(both.includes('IDEMPOTENCY_IN_PROGRESS'));
          if (typeof both[order.indexOf(second)] === 'object') secondWon += 1;
          const [run] = runs as [Extract<Begun, { kind: 'run' }>];
          assert.equal(run.kind, 'run');
          await run.lock.responded(200);
          const replays = await Promise.all(order.map((domain) => begin(domain, key)));
          for (const replay of replays) {
            assert.deepEqual(replay, { kind: 'replay', workId: run.lock.workId, status: 200 });
          }
        }),
      );
    }
    assert.ok(secondWon > 0 && secondWon < 1000, `${secondWon} won by the second`);
  });

  it('have one of ten requests take over a dead one with its work, a hundred times', async () => {
    for (let i = 0; i < 100; i += 1) {
      const dead = (await begin(first, `dead-${i}`)) as Extract<Begun, { kind: 'run' }>;
      await dead.lock.release();
      const ten = await Promise.all(
        Array.from({ length: 10 }, (_, n) => begin(n % 2 ? first : second, `dead-${i}`)),
      );
      const taken = ten.filter((begun) => typeof begun === 'object') as Extract<Begun, { kind: 'run' }>[];
      assert.equal(taken.length, 1);
      assert.equal(taken[0]!.lock.workId, dead.lock.workId);
      assert.equal(taken[0]!.lock.resumed, true);
      // The dead request continues, but its lock has no effect any more.
      await dead.lock.abandon();
      await taken[0]!.lock.responded(202);
      assert.equal(((await begin(second, `dead-${i}`)) as Begun).kind, 'replay');
    }
  });
});
