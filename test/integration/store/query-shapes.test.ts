import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { PlatenError } from '../../../src/errors/registry.ts';
import { expireLeases } from '../../../src/jobs/sweeps/expire-leases.ts';
import { measure } from '../../../src/jobs/sweeps/measure.ts';
import { recountSlots } from '../../../src/jobs/sweeps/recount-slots.ts';
import { republish } from '../../../src/jobs/sweeps/republish.ts';
import { settleReservations } from '../../../src/jobs/sweeps/reservations.ts';
import { deleteOrphanInputs, endRetention, moveLeftBehind } from '../../../src/jobs/sweeps/retention.ts';
import { expireWaiting, serveWaiting } from '../../../src/jobs/sweeps/serve-waiting.ts';
import { DEFAULT_PLANS } from '../../../src/plans/plan.ts';
import { PASSWORD, signUp } from '../../support/account-client.ts';
import { newJob } from '../../support/domain.ts';
import { startMongo } from '../../support/mongo.ts';
import { nameOf, type QueryShape, recordShapes } from '../../support/query-shapes.ts';
import { openApi, type TestApi } from '../http/support/api.ts';

const HTML = { html: '<p>x</p>' };
const DAY_MS = 86_400_000;

/**
 * Queries that read more than an index leads them to, each with the reason why that stays little. A query that is
 * neither led by an index nor named here fails the test.
 */
const READS_MORE: Record<string, string> = {
  'slots {}': 'one record for each account with work at the moment; all are looked at',
  'slots {contended:other, inFlight}': 'the same records',
};

/**
 * What queries ask for besides what their index gives: fields that are simply looked at, and sorting that is done by
 * hand, among the few documents that the index leads to.
 */
const LOOKED_AT: Record<string, { readonly asked: readonly string[]; readonly reason: string }> = {
  jobs: {
    asked: ['_id', 'state', 'notBefore', 'leaseExpiresAt', 'createdAt', 'expiresAt', 'sort createdAt'],
    reason: 'holds only what waits or runs; the index leads to the account, the state or the ids',
  },
  job_history: {
    asked: ['expiresAt'],
    reason: 'nearly all of an account’s history is visible: what has expired is deleted within a minute',
  },
  job_inputs: { asked: ['createdAt'], reason: 'walked through by id once an hour, all of it' },
  api_keys: {
    asked: [
      'mode',
      'sort lastUse.at, createdAt, _id',
      'sort createdAt, _id',
      'sort sortName, createdAt, _id',
    ],
    reason: 'an account has as many active keys as its plan allows, and what it has revoked',
  },
  audit_log: { asked: ['action'], reason: 'entries of one account, of what people do: a few a day' },
};

describe('Every query that is sent', function () {
  this.timeout(60_000);
  let api: TestApi;
  let shapes: Map<string, QueryShape>;
  before(async () => {
    const { uri } = await startMongo();
    api = await openApi({
      uri: `${uri}${uri.includes('?') ? '&' : '?'}monitorCommands=true`,
      syncWaitMs: 3000,
    });
    shapes = recordShapes(api.domain.connection);
    await useEverything(api);
  });
  after(async () => {
    await api.worker.stop();
    const { jobs } = api.domain.collections;
    while ((await jobs.countDocuments({ state: 'processing', owner: 'by hand' })) > 0) await sleep(20);
    await api.domain.mover.flush();
    await api.close();
  });

  it('is led by an index that is declared beside it', () => {
    const indexes = declaredIndexes(api);
    const faults: string[] = [];
    const needed = new Set<string>();
    for (const shape of shapes.values()) {
      const name = nameOf(shape);
      if (name in READS_MORE) continue;
      const left = leftOver(shape, indexes.get(shape.collection) ?? [['_id']]);
      if (left === undefined) faults.push(`${name}: no index leads it`);
      else {
        const unexplained = left.filter((asked) => !LOOKED_AT[shape.collection]?.asked.includes(asked));
        if (unexplained.length > 0) faults.push(`${name}: not in the index: ${unexplained.join(', ')}`);
        for (const asked of left) needed.add(`${shape.collection} ${asked}`);
      }
    }
    assert.deepEqual(faults, []);
    for (const [collection, { asked }] of Object.entries(LOOKED_AT)) {
      for (const field of asked)
        assert.ok(needed.has(`${collection} ${field}`), `${collection} ${field}: not needed`);
    }
  });

  it('is of a collection that was used, and every exception is still needed', () => {
    const used = new Set([...shapes.values()].map(({ collection }) => collection));
    for (const model of Object.values(api.domain.connection.models)) {
      assert.ok(used.has(model.collection.name), `nothing has asked for ${model.collection.name}`);
    }
    for (const name of Object.keys(READS_MORE)) assert.ok(shapes.has(name), `is not sent: ${name}`);
  });
});

/** Field lists of the indexes that the schemas declare, by collection; every collection has one on `_id`. */
function declaredIndexes({ domain }: TestApi): Map<string, string[][]> {
  return new Map(
    Object.values(domain.connection.models).map((model) => [
      model.collection.name,
      [['_id'], ...model.schema.indexes().map(([fields]) => Object.keys(fields))],
    ]),
  );
}

/**
 * The fields of a query that its best index does not have: an index leads a query whose fields are its first ones, all
 * but the last bound to values; after those it gives the order.
 *
 * @returns undefined when no index leads it.
 */
function leftOver(shape: QueryShape, indexes: readonly string[][]): string[] | undefined {
  const candidates = indexes.map((index) => {
    const led = new Set<string>();
    let rest = index;
    while (rest.length > 0) {
      const binding = shape.filter[rest[0]!];
      if (binding === undefined || binding === 'other') break;
      led.add(rest[0]!);
      // Past a range the order of the index is not that of its further fields.
      if (binding === 'range') break;
      rest = rest.slice(1);
    }
    if (led.size === 0) return undefined;
    if (led.has('_id') && shape.filter._id === 'one') return [];
    const inOrder = shape.sort.every((field, i) => field === rest[i]);
    const unbound = Object.keys(shape.filter).filter((field) => !led.has(field));
    return inOrder ? unbound : [...unbound, `sort ${shape.sort.join(', ')}`];
  });
  const leading = candidates.filter((left) => left !== undefined);
  return leading.sort((a, b) => a.length - b.length)[0];
}

/** Every route, every sweep, and every way a job goes. */
async function useEverything(api: TestApi): Promise<void> {
  await renderAndLook(api);
  await manageAccount(api);
  await sweep(api);
}

async function renderAndLook(api: TestApi): Promise<void> {
  const caller = await api.newCaller();
  const key = { 'idempotency-key': randomUUID() };
  for (let i = 0; i < 2; i += 1) await caller.render(HTML, key);
  await caller.render({ html: '<p>y</p>' }, key);
  const jobId = await caller.completed();
  for (const path of ['', '/file', '/download-url']) await caller.get(`/v1/pdf/jobs/${jobId}${path}`);
  const { url } = (await caller.get(`/v1/pdf/jobs/${jobId}/download-url`)).json;
  await fetch(url);
  for (const query of ['', '?sort=created_asc', '?status=completed', '?status=queued&offset=1']) {
    await caller.get(`/v1/pdf/jobs${query}`);
  }
  api.worker.render = async () => ({ retries: new PlatenError('RENDER_FAILED') });
  const retried = (await caller.render(HTML)).json.jobId;
  await caller.call('DELETE', `/v1/pdf/jobs/${retried}`);
  api.worker.render = async () => ({ fails: new PlatenError('RENDER_FAILED') });
  await caller.render(HTML);
  api.worker.render = async () => ({ pages: 1 });
  await caller.render({ templateId: randomUUID() });
}

async function manageAccount(api: TestApi): Promise<void> {
  const email = `${randomUUID()}@example.com`;
  const owner = await signUp(api.url, email);
  const { id: accountId } = await owner.expect(200, 'GET', '/auth/me');
  await api.accounts.setPlan(accountId, 'professional');
  for (const password of ['not the password', PASSWORD]) {
    await fetch(`${api.url}/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email, password }),
    });
  }
  const made = await owner.expect(201, 'POST', '/user/api-keys', { name: 'a', mode: 'live', allowedIps: [] });
  await owner.expect(200, 'POST', `/user/api-keys/${made.id}/rotate`);
  for (const sort of [
    'last_used_desc',
    'last_used_asc',
    'created_desc',
    'created_asc',
    'name_asc',
    'name_desc',
  ]) {
    await owner.expect(200, 'GET', `/user/api-keys?sort=${sort}`);
  }
  const [first] = (await owner.expect(200, 'GET', '/user/api-keys?status=active&mode=live')).keys;
  await owner.expect(200, 'DELETE', `/user/api-keys/${first.id}`);
  const template = { name: 't', content: '<p>{{a}}</p>', sampleData: '{"a":1}' };
  const { id, versionId } = await owner.expect(201, 'POST', '/user/templates', template);
  await owner.expect(200, 'PATCH', `/user/templates/${id}`, { content: '<p>{{a}}!</p>' });
  for (const path of ['', `/${id}`, `/${id}/versions`, `/${id}/versions/${versionId}`]) {
    await owner.expect(200, 'GET', `/user/templates${path}`);
  }
  await owner.call('POST', `/user/templates/${id}/versions/${versionId}/rollback`);
  const caller = await api.newCaller();
  await caller.render({ templateId: id, templateVersionId: versionId });
  await owner.call('DELETE', `/user/templates/${id}`);
  await owner.get('/user/audit-log');
  await owner.get('/user/audit-log?action=key.created');
  for (const query of ['', '?includeBreakdown=true&period=90d']) await owner.get(`/user/usage${query}`);
  for (const query of ['', `?sort=created_asc&apiKeyId=${first.id}`])
    await owner.get(`/user/request-logs${query}`);
  await owner.call('POST', '/auth/logout');
}

async function sweep(api: TestApi): Promise<void> {
  const { domain } = api;
  const { job, input } = newJob('someone');
  await domain.quota.reserve('someone', '2026-01' as never, randomUUID(), 10);
  await domain.dispatch.submit(job, input);
  await domain.slots.acquire('someone', randomUUID(), 10, true);
  await domain.mover.flush();
  await domain.settlement.flush();
  await domain.requestLog.flush();
  const { collections, lifecycle, dispatch, slots, quota } = domain;
  const common = { collections, lifecycle, dispatch, slots, planOf: async () => DEFAULT_PLANS.free };
  for (const days of [0, 1, 100]) {
    const now = new Date(Date.now() + days * DAY_MS);
    const rest = { retryBaseMs: 1000, random: Math.random, onRetried: () => {} };
    await republish({ ...common, now, unclaimedForMs: 0 });
    await expireLeases({ ...common, now, ...rest });
    await serveWaiting({ ...common, now });
    await recountSlots({ ...common, now, graceMs: 0 });
    await moveLeftBehind(collections, now, async () => {});
    await measure({ collections, plans: DEFAULT_PLANS, metrics: api.metrics });
    await settleReservations({ collections, quota, now });
    await expireWaiting({ ...common, now });
    await endRetention(collections, api.outputs, now);
    await deleteOrphanInputs(collections, now);
    await domain.requestLog.deleteOld(now);
    await domain.counters.deleteOld(now);
    await domain.limiter.deleteOld(now);
    await domain.idempotency.deleteExpired(now);
    await api.accountServices.deleteExpired(now);
  }
  await lifecycle.renew('nobody', [job], 1000);
}
