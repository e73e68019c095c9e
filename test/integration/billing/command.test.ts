import assert from 'node:assert/strict';
import { pino } from 'pino';
import { systemClock } from '../../../src/infra/clock.ts';
import { ensureIndexes } from '../../../src/infra/store/collection-spec.ts';
import { connectDatabase } from '../../../src/infra/store/connection.ts';
import { PlanMirror } from '../../../src/tenants/plans/plan-mirror.ts';
import { BUILT_IN } from '../../../src/tenants/plans/plan-source.ts';
import { runCommand } from '../../support/command.ts';
import { startMongo } from '../../support/mongo.ts';
import { StripeStandIn } from '../../support/stripe/stand-in.ts';

const PUBLIC_URL = 'https://pdf.example.com';
/** Another price than the built-in plan has, in US cents. */
const DEARER = 2500;

describe('platen billing', () => {
  let standIn: StripeStandIn;
  let environment: Record<string, string>;
  const run = (command: string, more: Record<string, string> = {}) =>
    runCommand(['billing', command], { environment: { ...environment, ...more } });
  const starterCents = () =>
    [...standIn.books.prices.values()].find(({ lookup_key }) => lookup_key === 'platen_plan_starter_monthly')
      ?.unit_amount;

  beforeEach(async () => {
    standIn = new StripeStandIn({ clock: systemClock });
    environment = {
      STRIPE_SECRET_KEY: standIn.secretKey,
      STRIPE_API_BASE: await standIn.listen(),
      PLATEN_PUBLIC_URL: PUBLIC_URL,
    };
  });
  afterEach(() => standIn.close());

  it('makes everything for sale in an empty account, once, and then finds nothing missing', async () => {
    const missing = await run('check');
    assert.equal(missing.code, 1, missing.stderr);
    assert.match(missing.stdout, /platen_plan_starter_monthly/);
    assert.equal(standIn.books.prices.size, 0, 'a check makes nothing');
    const first = await run('setup');
    assert.equal(first.code, 0, first.stderr);
    assert.match(first.stdout, /STRIPE_WEBHOOK_SECRET=whsec_\S+ {3}\(shown this once\)/);
    assert.equal(starterCents(), BUILT_IN.plans.get('starter')!.priceCentsPerMonth);
    const prices = standIn.books.prices.size;
    const second = await run('setup');
    assert.deepEqual([second.code, second.stdout], [0, 'Everything is there.\n']);
    assert.equal(standIn.books.prices.size, prices);
    assert.deepEqual(await run('check'), { code: 0, stdout: 'Everything is there.\n', stderr: '' });
  });

  it('sells at the prices of the cluster, where there is a database that has them', async () => {
    const { uri } = await startMongo();
    const database = { MONGODB_URI: uri };
    const connection = await connectDatabase(uri, pino({ level: 'silent' }));
    const mirror = new PlanMirror(connection);
    await ensureIndexes(connection);
    const starter = { ...BUILT_IN.plans.get('starter')!, priceCentsPerMonth: DEARER };
    await mirror.write({ plans: new Map([...BUILT_IN.plans, ['starter', starter]]), pools: new Map() });
    await connection.close();
    const { code, stderr } = await run('setup', database);
    assert.equal(code, 0, stderr);
    assert.equal(starterCents(), DEARER);
    assert.equal((await run('check', database)).code, 0);
    const otherwise = await run('check');
    assert.equal(otherwise.code, 1);
    assert.match(otherwise.stdout, /platen_plan_starter_monthly/);
  });

  it('replaces an archived price that still has its lookup key', async () => {
    await run('setup');
    const key = 'platen_plan_starter_monthly';
    const [old] = [...standIn.books.prices.values()].filter(({ lookup_key }) => lookup_key === key);
    old!.active = false;
    assert.equal((await run('check')).code, 1);
    const { code, stdout, stderr } = await run('setup');
    assert.equal(code, 0, stderr);
    assert.match(stdout, /made the price platen_plan_starter_monthly/);
    const holders = [...standIn.books.prices.values()].filter(({ lookup_key }) => lookup_key === key);
    assert.deepEqual(
      holders.map(({ id, active }) => [id === old!.id, active]),
      [[false, true]],
    );
    assert.equal((await run('check')).code, 0);
  });

  it('reports in one line that the key is wrong, or that the provider does not respond', async () => {
    for (const command of ['setup', 'check']) {
      const wrong = await run(command, { STRIPE_SECRET_KEY: 'sk_test_wrong' });
      assert.equal(wrong.code, 1);
      assert.match(wrong.stderr, /^Stripe does not know the key of STRIPE_SECRET_KEY: [^\n]+\n$/);
      assert.equal(wrong.stdout, '');
    }
    const nobody = await run('check', { STRIPE_API_BASE: 'http://127.0.0.1:9' });
    assert.equal(nobody.code, 1);
    assert.match(nobody.stderr, /^Stripe cannot be reached: [^\n]+\n$/);
  });

  it('reports missing settings', async () => {
    const { code, stderr } = await run('setup', { STRIPE_SECRET_KEY: '' });
    assert.deepEqual([code, stderr.trim()], [1, 'STRIPE_SECRET_KEY is required.']);
    assert.equal(standIn.books.prices.size, 0);
  });
});
