import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { API_ROUTES } from '../../src/http/app.ts';
import { hashSecret } from '../../src/infra/ids/hash-secret.ts';
import { eventually } from '../support/eventually.ts';
import { type Reply, send } from '../support/send.ts';
import type { Ask } from './support/access-asks.ts';
import { ACCESS } from './support/access-table.ts';
import { Actor } from './support/cast.ts';
import { OWNER, SmallDiskService } from './support/small-disk-service.ts';

const MIB = 1024 * 1024;
const FROM_OWN_PAGE = { 'sec-fetch-site': 'same-origin' };

/** What is handled without room: it frees some, or protects the account, and its response waits until it is written. */
const CONFIRMED: readonly string[] = [
  'DELETE /v1/pdf/jobs/:id',
  'DELETE /v1/pdf/batch/:id',
  'POST /auth/logout',
  'DELETE /auth/session',
  'DELETE /auth/sessions/:id',
  'DELETE /user/api-keys/:id',
  'DELETE /user/domains/:domain',
  'DELETE /user/members/:id',
  'DELETE /user/members/invitations/:id',
  'DELETE /user/membership',
  'DELETE /user/templates/:id',
  'DELETE /user/templates/:id/draft',
  'DELETE /user/renders/:id',
  'DELETE /user/batches/:id',
  'POST /user/subscription/cancel',
  'POST /public/auto-overage/disable',
];
/** What leaves nothing behind that has to be there after a crash. */
const UNCONFIRMED: readonly string[] = [
  'POST /auth/invitations',
  'POST /auth/login',
  'POST /auth/passkeys/challenge',
  'POST /auth/session',
  'POST /user/templates/preview',
  'POST /v1/pdf/validate',
];

/** Of these, what a second request does not find. */
const GONE_ONCE_DELETED: readonly string[] = [
  'DELETE /user/domains/:domain',
  'DELETE /user/members/:id',
  'DELETE /user/members/invitations/:id',
  'DELETE /auth/sessions/:id',
  'DELETE /user/api-keys/:id',
  'DELETE /user/templates/:id',
];

/** The payment provider gets 400 for whatever is not taken, and sends it again. */
const rejectionOf = (name: string) =>
  name === 'POST /webhooks/payments' ? [400, 'PAYMENT_EVENT_REFUSED'] : [503, 'UNAVAILABLE'];

/** Every route that is no GET, so that none can be forgotten. */
const ROUTES = API_ROUTES.filter(({ method }) => method !== 'get').map((route) => ({
  ...route,
  name: `${route.method.toUpperCase()} ${route.path}`,
}));

describe('changes of a standalone service', () => {
  let service: SmallDiskService;

  beforeEach(async () => {
    service = await SmallDiskService.open(192 * MIB);
  });
  afterEach(() => service.close());

  const newSession = async () => {
    const { headers } = await send(service.client.url, 'POST', '/auth/session', OWNER, FROM_OWN_PAGE);
    return hashSecret(/=([^;]+)/.exec(headers.get('set-cookie')!)![1]!);
  };
  // Nothing but the service itself can make a member; one that there is not is as good here.
  const newMember = async () => randomUUID();
  const moveTo = () => Promise.reject(new Error('Plans are for operators to give.'));
  const newActor = async () => {
    const { accessToken } = (await send(service.client.url, 'POST', '/auth/login', OWNER)).json;
    const headers = { authorization: `Bearer ${accessToken}` };
    const { id } = (await service.client.call('GET', '/auth/me', undefined, headers)).json;
    return new Actor(id, service.client, accessToken, { newSession, newMember, moveTo });
  };
  const ask = (actor: Actor, name: string, { path, body, type }: Ask): Promise<Reply> =>
    service.client.call(name.split(' ')[0]!, path, body, {
      ...actor.headers,
      ...FROM_OWN_PAGE,
      ...(type && { 'content-type': type }),
    });
  const noLongerReady = (problem: RegExp) =>
    eventually('not ready', async () =>
      problem.test((await service.readiness())?.json.problems?.join() ?? ''),
    );

  /** For each route a request that is good while there is room, and who sends it. */
  async function prepared() {
    const owner = await newActor();
    const asks = new Map<string, { actor: Actor; what: Ask }>();
    for (const { name } of ROUTES) {
      const row = ACCESS[name];
      assert.ok(row, `${name} is in no table of requests`);
      const actor = row.endsSession ? await newActor() : owner;
      asks.set(name, { actor, what: await row.ask(actor) });
    }
    return asks;
  }

  it('are in one of the three kinds, by their declarations', () => {
    const named = (kind: string) =>
      ROUTES.filter(({ withoutRoom }) => withoutRoom === kind).map(({ name }) => name);
    assert.deepEqual(named('confirmed').sort(), [...CONFIRMED].sort());
    assert.deepEqual(named('unconfirmed').sort(), [...UNCONFIRMED].sort());
    assert.ok(ROUTES.length > 30);
  });

  it('are rejected when the disk is nearly full, but for those that free room or protect the account, which last', async () => {
    const asks = await prepared();
    const owner = await newActor();
    const leaked = await owner.made('POST', '/user/api-keys', { name: 'leaked' });
    const template = await owner.made('POST', '/user/templates', { name: 'large', content: 'x' });
    service.disk.fill(20 * MIB);
    await noLongerReady(/disk full/);
    for (const [name, { actor, what }] of asks) {
      const reply = await ask(actor, name, what);
      const { status, headers } = reply;
      if ([...CONFIRMED, ...UNCONFIRMED].includes(name)) {
        assert.notEqual(status, 503, name);
        continue;
      }
      assert.deepEqual([status, reply.json.code], rejectionOf(name), name);
      if (status === 503) assert.ok(Number(headers.get('retry-after')) > 0, name);
    }
    const key = { 'x-api-key': leaked.apiKey };
    for (const path of [`/user/api-keys/${leaked.id}`, `/user/templates/${template.id}`])
      await owner.made('DELETE', path);
    await service.kill();
    service.disk.empty();
    await service.start();
    assert.equal((await service.client.call('GET', '/v1/pdf/jobs', undefined, key)).status, 401);
    const again = await newActor();
    const gone = await service.client.call('GET', `/user/templates/${template.id}`, undefined, again.headers);
    assert.equal(gone.status, 404);
  });

  it('are not acknowledged without one free byte, and what is acknowledged is there after a crash', async () => {
    const asks = await prepared();
    const owner = await newActor();
    const before = await owner.made('POST', '/user/templates', { name: 'before', content: 'x' });
    service.disk.fill();
    await noLongerReady(/disk full/);
    // Whatever room the database had in its file is used up by changes that are confirmed, one after the other.
    const ended: string[] = [];
    for (;;) {
      const { status, json } = await ask(owner, 'POST /auth/login', { path: '/auth/login', body: OWNER });
      assert.equal(status, 200);
      const headers = { authorization: `Bearer ${json.accessToken}` };
      const out = await service.client.call('POST', '/auth/logout', undefined, headers);
      if (out.status === 503) break;
      assert.equal(out.status, 200);
      ended.push(json.accessToken);
    }
    // The store may find a little room in its file yet: then what it has confirmed is there.
    const acknowledged: { name: string; what: Ask }[] = [];
    for (const [name, { actor, what }] of asks) {
      const reply = await ask(actor, name, what);
      if (UNCONFIRMED.includes(name)) assert.equal(reply.status, ACCESS[name]!.status, name);
      else if (CONFIRMED.includes(name) && reply.status !== 503) acknowledged.push({ name, what });
      else assert.deepEqual([reply.status, reply.json.code], rejectionOf(name), name);
    }
    await service.kill();
    service.disk.empty();
    await service.start();
    const again = await newActor();
    assert.equal((await again.made('GET', `/user/templates/${before.id}`)).id, before.id);
    for (const { name, what } of acknowledged.filter(({ name }) => GONE_ONCE_DELETED.includes(name)))
      assert.equal((await ask(again, name, what)).status, 404, name);
    for (const token of ended) {
      const headers = { authorization: `Bearer ${token}` };
      assert.equal((await service.client.call('GET', '/user/templates', undefined, headers)).status, 401);
    }
  });

  it('that were acknowledged a moment before a crash are there after it', async () => {
    for (let n = 0; n < 3; n += 1) {
      const owner = await newActor();
      const template = await owner.made('POST', '/user/templates', { name: `${n}`, content: 'x' });
      const key = await owner.made('POST', '/user/api-keys', { name: `${n}` });
      const jobId = await service.client.submit({ html: `<p>${n}</p>` });
      await service.kill();
      await service.start();
      const again = await newActor();
      assert.equal((await again.made('GET', `/user/templates/${template.id}`)).name, `${n}`);
      const headers = { 'x-api-key': key.apiKey };
      assert.equal((await service.client.call('GET', '/v1/pdf/jobs', undefined, headers)).status, 200);
      assert.equal((await service.client.end(jobId)).status, 'completed');
    }
  });
});
