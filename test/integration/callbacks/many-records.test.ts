import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { declaredCollections } from '../../../src/infra/store/collection-spec.ts';
import { chunkSizeOf } from '../../../src/work/batches/batch.ts';
import { DELIVERY_STATES, type Delivery, deliveryIdOf } from '../../../src/work/callbacks/delivery.ts';
import { AccountClient } from '../../support/account-client.ts';
import { documentsRead } from '../../support/documents-read.ts';
import { startMongo } from '../../support/mongo.ts';
import { openApi, type TestApi } from '../http/support/api.ts';

const OTHERS = 6000;
const OWN = 6000;
const BATCHES = 2000;
const CHUNKS = 40;
const AT_ONCE = 2000;
const MINUTE_MS = 60_000;
/** Documents of other collections that a request reads for authentication and limits. */
const EXTRA_DOCUMENTS = 20;

describe("An account's view of its callbacks and batches", () => {
  let api: TestApi;
  let owner: AccountClient;
  let accountId: string;
  let began: number;

  before(async () => {
    api = await openApi(await startMongo());
    ({ accountId } = await api.newCaller());
    owner = new AccountClient(api.url, (await api.tenants.tokens.issue(accountId)).token);
    began = api.domain.clock.now().getTime();
    await insert('callback_deliveries', OTHERS, (n) => delivery(`other-${n % 100}`, n));
    await insert('callback_deliveries', OWN, (n) => delivery(accountId, n));
    await insert('batches', BATCHES, (n) => batch(`other-${n % 100}`, n));
    await insert('batches', 3, (n) => batch(accountId, n));
  });
  after(() => api.close());

  async function insert(name: string, count: number, record: (n: number) => { _id: string }): Promise<void> {
    const records = api.domain.connection.collection<{ _id: string }>(name);
    for (let from = 0; from < count; from += AT_ONCE) {
      const length = Math.min(AT_ONCE, count - from);
      await records.insertMany(Array.from({ length }, (_, i) => record(from + i)));
    }
  }

  /** One a minute before the one before; every third one in each state. */
  function delivery(account: string, n: number): Delivery {
    const jobId = randomUUID();
    const path = `/v1/pdf/batch/${jobId}`;
    const createdAt = new Date(began - n * MINUTE_MS);
    return {
      _id: deliveryIdOf(jobId),
      accountId: account,
      url: 'https://example.com/told',
      host: 'example.com',
      pair: `${account}/example.com`,
      payload: {
        event: 'batch.completed',
        jobId,
        status: 'completed',
        statusUrl: path,
        zipUrl: `${path}/zip`,
        completedAt: createdAt.toISOString(),
      },
      state: DELIVERY_STATES[n % DELIVERY_STATES.length]!,
      fence: 1,
      attempts: n,
      createdAt,
      lastAttemptAt: null,
      deliveredAt: null,
      responseStatus: null,
      error: null,
    };
  }

  function batch(account: string, n: number) {
    const createdAt = new Date(began - n * MINUTE_MS);
    return {
      _id: randomUUID(),
      accountId: account,
      phase: 'completed',
      test: false,
      total: 1000,
      chunkSize: chunkSizeOf(1000),
      tallies: Object.fromEntries(Array.from({ length: CHUNKS }, (_, chunk) => [chunk, { completed: 25 }])),
      createdAt,
      startedAt: createdAt,
      finishedAt: createdAt,
    };
  }

  it(`is a page of its callbacks, and their number, without reading ${OTHERS + OWN} of them`, async () => {
    const pages: [query: string, total: number, firstAttempts: number, read: number][] = [
      ['', OWN, 0, 20],
      ['?limit=20&offset=40', OWN, 40, 60],
      ['?sort=created_asc', OWN, OWN - 1, 20],
      ['?status=failed&limit=5', OWN / 3, 2, 5],
      ['?status=delivered&sort=created_asc', OWN / 3, OWN - 2, 20],
    ];
    for (const [query, total, first, few] of pages) {
      const ask = () => owner.expect(200, 'GET', `/user/webhook-deliveries${query}`);
      const page = await ask();
      assert.deepEqual([page.total, page.deliveries[0].attemptCount], [total, first], query);
      const read = await documentsRead(api.domain.connection, ask);
      assert.ok(read >= few && read <= few + EXTRA_DOCUMENTS, `${query}: ${read} documents`);
    }
  });

  it('is found by event and address among 5,000, and goes on where the search has stopped', async () => {
    const path = '/user/webhook-deliveries?limit=5&event=batch.completed&url=EXAMPLE.com/Told';
    const found: number[] = [];
    let to = '';
    for (let searches = 0; searches < 2; searches += 1) {
      const ask = () => owner.expect(200, 'GET', path + to);
      const page = await ask();
      const read = await documentsRead(api.domain.connection, ask);
      assert.ok(read <= 5001 + 5 + EXTRA_DOCUMENTS, `${read} documents`);
      found.push(page.total);
      to = `&to=${page.searchedTo}`;
    }
    assert.deepEqual([found, to], [[5000, OWN - 5000], '&to=null']);
    assert.equal((await owner.expect(200, 'GET', '/user/webhook-deliveries?url=nowhere')).total, 0);
    const from = new Date(began - 9.5 * MINUTE_MS).toISOString();
    assert.equal((await owner.expect(200, 'GET', `/user/webhook-deliveries?from=${from}`)).total, 10);
  });

  it('is sent again where it has failed, 500 at a time, from a time on', async () => {
    const path = '/user/webhook-deliveries/redeliver-failed';
    const from = new Date(began - (2100 - 0.5) * MINUTE_MS);
    const sent: number[] = [];
    let since: string | null = from.toISOString();
    while (since !== null) {
      const reply: { redelivered: number; nextSince: string | null } = await owner.expect(202, 'POST', path, {
        since,
        url: 'example',
      });
      sent.push(reply.redelivered);
      since = reply.nextSince;
    }
    assert.deepEqual(sent, [500, 200]);
    const failed = await owner.expect(200, 'GET', '/user/webhook-deliveries?status=failed');
    assert.equal(failed.total, OWN / 3 - 700);
    const others = { accountId: { $ne: accountId }, state: 'failed' } as const;
    const records = api.domain.connection.collection('callback_deliveries');
    assert.equal(await records.countDocuments(others), OTHERS / 3);
    const none = { since: from.toISOString(), event: 'webhook.test' };
    assert.deepEqual(await owner.expect(202, 'POST', path, none), { redelivered: 0, nextSince: null });
  });

  it(`is its batches' metrics, without reading ${BATCHES} others`, async () => {
    const ask = () => owner.expect(200, 'GET', '/user/batches/metrics?period=90d');
    assert.equal((await ask()).itemEligibleCount, 3000);
    const read = await documentsRead(api.domain.connection, ask);
    assert.ok(read >= 3 && read <= 3 + EXTRA_DOCUMENTS, `${read} documents`);
  });

  it('shows a full scan where the indexes are missing', async () => {
    const { connection } = api.domain;
    for (const [name, path, all] of [
      ['callback_deliveries', '/user/webhook-deliveries', OTHERS + OWN],
      ['batches', '/user/batches/metrics?period=90d', BATCHES],
    ] as const) {
      const { indexes = [] } = declaredCollections(connection).find((spec) => spec.name === name)!;
      for (const { fields } of indexes.filter(({ unique }) => unique)) {
        await connection.collection(name).dropIndex(Object.entries(fields).flat().join('_'));
      }
      const read = await documentsRead(connection, () => owner.expect(200, 'GET', path));
      assert.ok(read >= all, `${path}: ${read} documents`);
    }
  });
});
