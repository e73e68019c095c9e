import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { systemClock } from '../../../src/infra/clock.ts';
import { ensureIndexes } from '../../../src/infra/store/collection-spec.ts';
import { connectDatabase } from '../../../src/infra/store/connection.ts';
import { AccountPlans } from '../../../src/tenants/accounts/account-plans.ts';
import { AccountStore } from '../../../src/tenants/accounts/account-store.ts';
import { DEFAULT_PLANS } from '../../../src/tenants/plans/plan.ts';
import { HeldPlans } from '../../../src/tenants/plans/plan-source.ts';
import { startMongo } from '../../support/mongo.ts';

describe('The plan of an account', () => {
  it('is the plan of its name, and free without an account or a plan of this name', async () => {
    const { uri } = await startMongo();
    const [connection, other] = await Promise.all([
      connectDatabase(uri, pino({ level: 'silent' })),
      connectDatabase(uri, pino({ level: 'silent' })),
    ]);
    const accounts = new AccountStore(connection, systemClock);
    await ensureIndexes(connection);
    const accountPlans = new AccountPlans(accounts, new HeldPlans());
    const make = async (plan: string) => {
      const made = await accounts.create(`${randomUUID()}@example.com`, null, plan);
      return made!._id;
    };
    const starter = await make('starter');
    const gone = await make('gone');
    const nobody = randomUUID();
    const expected = new Map([
      [starter, { name: 'starter', plan: DEFAULT_PLANS.starter }],
      [gone, { name: 'gone', plan: DEFAULT_PLANS.free }],
      [nobody, { name: 'free', plan: DEFAULT_PLANS.free }],
    ]);
    for (const [accountId, named] of expected) assert.deepEqual(await accountPlans.planOf(accountId), named);
    assert.deepEqual(await accountPlans.plansOf([starter, gone, nobody]), expected);
    const many = [...Array.from({ length: 2500 }, () => randomUUID()), starter];
    assert.equal((await accountPlans.plansOf(many)).get(starter)?.name, 'starter');

    await accounts.setPlan(starter, 'business');
    assert.equal((await accountPlans.plansOf([starter])).get(starter)?.name, 'business');
    const elsewhere = new AccountPlans(new AccountStore(other, systemClock), new HeldPlans());
    assert.equal((await elsewhere.planOf(starter)).name, 'business');
    await accounts.setPlan(starter, 'professional');
    await sleep(1000);
    assert.equal((await elsewhere.planOf(starter)).name, 'professional');
    await Promise.all([connection.close(), other.close()]);
  });
});
