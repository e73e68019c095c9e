import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { chunkSizeOf } from '../../../src/batches/batch.ts';
import { DELIVERY_STATES, type Delivery, deliveryIdOf } from '../../../src/callbacks/delivery.ts';
import { AccountClient } from '../../support/account-client.ts';
import { startMongo } from '../../support/mongo.ts';
import { openApi, type TestApi } from '../http/support/api.ts';

const OTHERS = 30_000;
const OWN = 30_000;
const BATCHES = 10_000;
const CHUNKS = 40;
const AT_ONCE = 5000;
const MINUTE_MS = 60_000;
const LISTS = ['callback_deliveries', 'batches'];

interface Sent {
  readonly name: string;
  readonly command: Readonly<Record<string, unknown>>;
}

/** What a real MongoDB says of a query that it has run. */
interface Explained {
  readonly executionStats: {
    readonly nReturned: number;
    readonly totalDocsExamined: number;
    readonly totalKeysExamined: number;
  };
}

describe('What an account is told of its callbacks and batches', function () {
  this.timeout(180_000);
  let api: TestApi;
  let owner: AccountClient;
  let accountId: string;
  let began: number;
  const sent: Sent[] = [];

  before(async () => {
    const { uri } = await startMongo();
    api = await openApi({ uri: `${uri}${uri.includes('?') ? '&' : '?'}monitorCommands=true` });
    ({ accountId } = await api.newCaller());
    owner = new AccountClient(api.url, (await api.accountServices.tokens.issue(accountId)).token);
    began = api.domain.clock.now().getTime();
    await insert('callback_deliveries', OTHERS, (n) => delivery(`other-${n % 100}`, n));
    await insert('callback_deliveries', OWN, (n) => delivery(accountId, n));
    await insert('batches', BATCHES, (n) => batch(`other-${n % 100}`, n));
    await insert('batches', 3, (n) => batch(accountId, n));
    api.domain.connection.getClient().on('commandStarted', ({ commandName, command }) => {
      if (LISTS.includes(String(command[commandName]))) sent.push({ name: commandName, command });
    });
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
      lane: `${account}/example.com`,
      payload: {
        event: 'batch.completed',
        jobId,
        status: 'completed',
        statusUrl: path,
        zipUrl: `${path}/zip`,
        completedAt: createdAt.toISOString(),
      },
      state: DELIVERY_STATES[n % DELIVERY_STATES.length]!,
      version: 1,
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

  /** Milliseconds that reading all of a collection takes; it finds nothing. */
  const scanMs = (name: string) =>
    median(5, () => api.domain.connection.collection(name).countDocuments({ nothing: 'of this' }));

  it(`is a page of its callbacks, and their number, without reading ${OTHERS + OWN} of them`, async () => {
    const scan = await scanMs('callback_deliveries');
    const pages: [query: string, total: number, firstAttempts: number][] = [
      ['', OWN, 0],
      ['?limit=20&offset=40', OWN, 40],
      ['?sort=created_asc', OWN, OWN - 1],
      ['?status=failed&limit=5', OWN / 3, 2],
      ['?status=delivered&sort=created_asc', OWN / 3, OWN - 2],
    ];
    for (const [query, total, first] of pages) {
      const ask = () => owner.expect(200, 'GET', `/user/webhook-deliveries${query}`);
      const page = await ask();
      assert.deepEqual([page.total, page.deliveries[0].attemptCount], [total, first], query);
      const took = await median(9, ask);
      assert.ok(took < scan / 4, `${query}: ${took} ms; reading all takes ${scan} ms`);
    }
  });

  it(`are its batches' metrics, without reading ${BATCHES} others`, async () => {
    const scan = await scanMs('batches');
    const ask = () => owner.expect(200, 'GET', '/user/batches/metrics?period=90d');
    assert.equal((await ask()).itemEligibleCount, 3000);
    const took = await median(9, ask);
    assert.ok(took < scan / 4, `${took} ms; reading all takes ${scan} ms`);
  });

  it('comes of queries that a MongoDB answers from an index, where this is one', async () => {
    assert.deepEqual(
      [...new Set(sent.map(({ command, name }) => String(command[name])))].sort(),
      [...LISTS].sort(),
    );
    for (const { name, command } of sent) {
      const explained = await explain(name, command);
      if (explained === undefined) return;
      const { nReturned, totalDocsExamined } = explained.executionStats;
      const skipped = Number(command.skip ?? 0);
      assert.ok(totalDocsExamined <= nReturned + skipped, `${name} ${JSON.stringify(command)}`);
    }
  });

  /** Undefined where the server cannot explain, as the embedded one that is no MongoDB cannot. */
  async function explain(name: string, command: Sent['command']): Promise<Explained | undefined> {
    const { lsid: _, $db, $clusterTime: __, ...asked } = command;
    try {
      const db = api.domain.connection.getClient().db(String($db));
      return (await db.command({
        explain: { ...asked },
        verbosity: 'executionStats',
      })) as unknown as Explained;
    } catch (error) {
      assert.match(String(error), /no such c(om)?m(an)?d/i, `${name} is explained`);
      return undefined;
    }
  }
});

/** Of so many runs one after another, in milliseconds. */
async function median(runs: number, work: () => Promise<unknown>): Promise<number> {
  const took: number[] = [];
  for (let run = 0; run < runs; run += 1) {
    const started = performance.now();
    await work();
    took.push(performance.now() - started);
  }
  return took.sort((a, b) => a - b)[runs >> 1]!;
}
