import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import type { Agent } from 'undici';
import type { Delivery } from '../../../src/work/callbacks/delivery.ts';
import { endCallbacks } from '../../../src/work/callbacks/retention.ts';
import { ATTEMPT_DELAYS_MS } from '../../../src/work/callbacks/retry-schedule.ts';
import type { CallbackSender } from '../../../src/work/callbacks/sender.ts';
import { type Domain, openDomain } from '../../support/domain.ts';
import { eventually } from '../../support/eventually.ts';
import { NameServer } from '../egress/support/name-server.ts';
import { Canary } from '../egress/support/origin.ts';
import { openSender, type Received, Receiver, scheduleCallback, testAgent } from './support.ts';

const HOUR_MS = 3_600_000;

/** Throws unless an independent implementation of the signature finds that the secret's owner sent it. */
function verify(secret: string, { headers, body }: Received): void {
  const judge = new Webhook(secret);
  judge.verify(body, headers as Record<string, string>);
  // The service's own headers say the same: they have the same MAC under the name of another version.
  judge.verify(body, {
    'webhook-id': String(headers['x-service-delivery-id']),
    'webhook-timestamp': String(headers['x-service-timestamp']),
    'webhook-signature': String(headers['x-service-signature-v2']).replaceAll('v2,', 'v1,'),
  });
}

describe('The sender of callbacks', () => {
  let domain: Domain;
  let names: NameServer;
  let agent: Agent;
  let receiver: Receiver;
  let sender: CallbackSender;

  before(async () => {
    domain = await openDomain();
    names = await NameServer.start();
    agent = testAgent(names.lookup());
  });
  after(async () => {
    await agent.destroy();
    await names.close();
    await domain.close();
  });
  beforeEach(async () => {
    receiver = await Receiver.start();
    sender = openSender(domain, agent);
  });
  afterEach(async () => {
    await sender.stop(0);
    await receiver.close();
    await domain.connection.collection('callback_deliveries').deleteMany({});
  });

  const schedule = (url = receiver.url(), accountId?: string) => scheduleCallback(domain, url, accountId);
  const stateOf = async ({ _id }: Delivery) => (await domain.callbacks.deliveries.find(_id))!;
  /** One run of the sender, until all its attempts are over. */
  async function deliverDue(by = sender): Promise<void> {
    await by.send();
    await by.idle();
  }

  it('reports what has ended, with absolute addresses, signed so that receivers can verify it', async () => {
    const delivery = await schedule(receiver.url('/hooks?a=b'));
    await deliverDue();
    assert.equal(receiver.received.length, 1);
    const [received] = receiver.received;
    const { path, headers, body } = received!;
    assert.equal(path, '/hooks?a=b');
    const { jobId } = delivery.payload;
    assert.deepEqual(JSON.parse(body), {
      event: 'render.completed',
      jobId,
      status: 'completed',
      statusUrl: `https://platen.test/v1/pdf/jobs/${jobId}`,
      fileUrl: `https://platen.test/v1/pdf/jobs/${jobId}/file`,
      completedAt: delivery.payload.completedAt,
    });
    const [key] = await domain.callbacks.keys.list(delivery.accountId);
    verify(key!.secret, received!);
    assert.throws(() => verify(key!.secret, { ...received!, body: `${body} ` }));
    assert.match(key!.secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
    assert.equal(headers['x-service-key-id'], key!.id);
    assert.equal(headers['x-service-delivery-id'], delivery._id);
    assert.equal(headers['content-type'], 'application/json');
    const { state, attempts, responseStatus, dueAt } = await stateOf(delivery);
    assert.deepEqual([state, attempts, responseStatus, dueAt], ['delivered', 1, 204, undefined]);
    await deliverDue();
    assert.equal(receiver.received.length, 1);
  });

  it('signs with the old key as well for 24 hours after a rotation', async () => {
    const accountId = randomUUID();
    const { keys } = domain.callbacks;
    const [old] = await keys.signing(accountId);
    const fresh = await keys.rotate(accountId);
    await schedule(receiver.url(), accountId);
    await deliverDue();
    for (const { secret } of [old!, fresh]) verify(secret, receiver.received[0]!);
    assert.equal(receiver.received[0]!.headers['x-service-key-id'], fresh.id);
    const before = await keys.signing(accountId);
    assert.deepEqual(
      before.map(({ id }) => id),
      [fresh.id, old!.id],
    );
    domain.clock.pass(24 * HOUR_MS + 1000);
    const left = (await keys.signing(accountId)).map(({ id }) => id);
    domain.clock.pass(-24 * HOUR_MS - 1000);
    assert.deepEqual(left, [fresh.id]);
  });

  it('makes one key when an account first needs it for many callbacks at once', async () => {
    const accountId = randomUUID();
    const rings = await Promise.all(
      Array.from({ length: 8 }, () => domain.callbacks.keys.signing(accountId)),
    );
    assert.equal(new Set(rings.map(([key]) => key!.secret)).size, 1);
  });

  it('tries again on the schedule and under one id, and gives up at its end', async () => {
    receiver.respond = (_request, response) => response.writeHead(500).end();
    const delivery = await schedule();
    for (const [made, delay] of ATTEMPT_DELAYS_MS.entries()) {
      domain.clock.pass(delay * 1.1 - 5000);
      await deliverDue();
      if (delay > 0) assert.equal(receiver.received.length, made, `attempt ${made} came early`);
      domain.clock.pass(5100);
      await deliverDue();
      assert.equal(receiver.received.length, made + 1);
      const { state, attempts, dueAt, lastAttemptAt, error } = await stateOf(delivery);
      const next = ATTEMPT_DELAYS_MS[made + 1];
      assert.deepEqual([attempts, error], [made + 1, 'The receiver responded with status 500.']);
      assert.equal(state, next === undefined ? 'failed' : 'pending');
      const wait = dueAt === undefined ? undefined : dueAt.getTime() - lastAttemptAt!.getTime();
      assert.equal(wait === undefined ? undefined : Math.round(wait), next && Math.round(next * 1.1));
    }
    domain.clock.pass(48 * HOUR_MS);
    await deliverDue();
    assert.equal(receiver.received.length, ATTEMPT_DELAYS_MS.length);
    const ids = receiver.received.map(({ headers }) => headers['x-service-delivery-id']);
    assert.deepEqual([...new Set(ids)], [delivery._id]);
    assert.equal(new Set(receiver.received.map(({ body }) => body)).size, 1);
    const times = receiver.received.map(({ headers }) => Number(headers['x-service-timestamp']));
    assert.ok(times.at(-1)! - times[0]! > 8 * 3600, 'each attempt is signed at its own time');
  });

  for (const [header, waits, why] of [
    ['90', 90_000, 'longer than planned'],
    ['1', 5_500, 'shorter than planned'],
    [String(30 * 24 * 3600), 6 * HOUR_MS, 'past the bound'],
  ] as const) {
    it(`postpones the next attempt as Retry-After says: ${why}`, async () => {
      receiver.respond = (_request, response) => response.writeHead(503, { 'retry-after': header }).end();
      const delivery = await schedule();
      await deliverDue();
      const { dueAt, lastAttemptAt } = await stateOf(delivery);
      assert.equal(dueAt!.getTime() - lastAttemptAt!.getTime(), waits);
    });
  }

  it('stops at 410', async () => {
    receiver.respond = (_request, response) => response.writeHead(410).end();
    const delivery = await schedule();
    await deliverDue();
    const { state, dueAt, responseStatus } = await stateOf(delivery);
    assert.deepEqual([state, dueAt, responseStatus], ['failed', undefined, 410]);
  });

  it('follows no redirect', async () => {
    const elsewhere = await Canary.start('127.9.9.2');
    receiver.respond = (_request, response) =>
      response.writeHead(307, { location: `https://127.9.9.2:${elsewhere.port}/` }).end();
    const delivery = await schedule();
    await deliverDue();
    const { state, attempts, error } = await stateOf(delivery);
    assert.deepEqual([state, attempts, error], ['pending', 1, 'Redirects are not followed (307).']);
    assert.equal(elsewhere.touched, 0);
    await elsewhere.close();
  });

  it('waits for a response no longer than its time-out', async () => {
    sender = openSender(domain, agent, { timeoutMs: 300 });
    receiver.respond = () => undefined;
    const delivery = await schedule();
    await deliverDue();
    assert.equal((await stateOf(delivery)).error, 'There was no response within 0.3 s.');
  });

  it('reads a bounded part of an endless response, and counts it by its status', async () => {
    let sent = 0;
    let over = false;
    receiver.respond = (_request, response) => {
      response.writeHead(200).once('close', () => {
        over = true;
      });
      const chunk = Buffer.alloc(64 * 1024);
      const more = () => {
        while (!response.destroyed && response.write(chunk)) sent += chunk.length;
      };
      response.on('drain', more).on('error', () => undefined);
      more();
    };
    const delivery = await schedule();
    await deliverDue();
    assert.equal((await stateOf(delivery)).state, 'delivered');
    await eventually('it reads no more, and has hung up', () => over);
    assert.ok(sent < 16 * 1024 * 1024, `${sent} bytes were taken`);
  });

  it('checks the address again at every connection: what a name resolves to may have changed', async () => {
    receiver.respond = (_request, response) => response.writeHead(204, { connection: 'close' }).end();
    const inside = await Canary.start('127.0.0.1');
    names.set('callbacks.test', ['127.9.9.1']);
    const first = await schedule(`https://callbacks.test:${receiver.port}/`);
    await deliverDue();
    assert.equal((await stateOf(first)).state, 'delivered');
    names.set('callbacks.test', ['127.0.0.1']);
    for (const { port } of [receiver, inside]) {
      const moved = await schedule(`https://callbacks.test:${port}/`);
      await deliverDue();
      const { state, error } = await stateOf(moved);
      assert.deepEqual([state, error], ['pending', 'There is no host called callbacks.test.']);
    }
    assert.equal(inside.touched, 0);
    assert.equal(receiver.received.length, 1);
    await inside.close();
  });

  it('never lets a dead receiver delay others, or a live one of the same account', async () => {
    const dead = await Receiver.start();
    dead.respond = () => undefined;
    const accountId = randomUUID();
    for (let i = 0; i < 300; i += 1) await schedule(dead.url(), accountId);
    const mine = await schedule(receiver.url(), accountId);
    const others = await schedule(receiver.url());
    await sender.send();
    for (const delivery of [mine, others]) {
      await eventually('it is there', async () => (await stateOf(delivery)).state === 'delivered');
    }
    await eventually('the dead one is asked', () => dead.received.length >= 4);
    assert.equal(dead.received.length, 4, 'the share of one account at one host');
    assert.equal(await sender.oldestDueMs(), 0, 'deliveries that their own receiver holds up do not count');
    await sender.stop(0);
    await dead.close();
  });

  it('delivers to one path of a host that four other accounts keep busy', async () => {
    const shared = await Receiver.start();
    const hanging = () => shared.received.filter(({ path }) => path === '/dead').length;
    shared.respond = (request, response) => {
      if (request.url !== '/dead') response.writeHead(204).end();
    };
    for (let account = 0; account < 4; account += 1) {
      const accountId = randomUUID();
      for (let i = 0; i < 30; i += 1) await schedule(shared.url('/dead'), accountId);
    }
    await sender.send();
    await eventually('they have all attempts that they may have', () => hanging() === 16);
    const neighbour = randomUUID();
    const theirs = [];
    for (let i = 0; i < 8; i += 1) theirs.push(await schedule(shared.url('/hook'), neighbour));
    await sender.send();
    for (const delivery of theirs) {
      await eventually('it is there', async () => {
        await sender.send();
        return (await stateOf(delivery)).state === 'delivered';
      });
    }
    assert.equal(hanging(), 16, 'the others have no more than before');
    await sender.stop(0);
    await shared.close();
  });

  it('sends more than the bound, one part after the other', async () => {
    const accountId = randomUUID();
    for (let i = 0; i < 60; i += 1) await schedule(receiver.url(), accountId);
    await sender.send();
    await eventually('all are there', () => receiver.received.length === 60);
    await sender.idle();
    const ids = receiver.received.map(({ headers }) => headers['x-service-delivery-id']);
    assert.equal(new Set(ids).size, 60);
  });

  it('sends each once when several dispatchers query at the same time', async () => {
    const senders = Array.from({ length: 4 }, () => openSender(domain, agent));
    for (let i = 0; i < 40; i += 1) await schedule();
    await Promise.all(senders.map((one) => one.send()));
    await eventually('all are there', () => receiver.received.length >= 40);
    await Promise.all(senders.map((one) => one.stop(5000)));
    assert.equal(receiver.received.length, 40);
  });

  it('gives unfinished attempts back when it is stopped', async () => {
    receiver.respond = () => undefined;
    const delivery = await schedule();
    await sender.send();
    await eventually('it is on its way', () => receiver.received.length === 1);
    await sender.stop(50);
    receiver.respond = (_request, response) => response.writeHead(200).end();
    await deliverDue(openSender(domain, agent));
    const { state, attempts } = await stateOf(delivery);
    assert.deepEqual([state, attempts, receiver.received.length], ['delivered', 1, 2]);
  });

  it('keeps callbacks while the public address is not known, and reports for how long', async () => {
    const blind = openSender(domain, agent, { publicUrl: () => undefined });
    await schedule();
    domain.clock.pass(60_000);
    await deliverDue(blind);
    assert.equal(receiver.received.length, 0);
    assert.ok((await blind.oldestDueMs()) >= 60_000);
    await deliverDue();
    assert.equal(receiver.received.length, 1);
  });

  it('starts anew on request, under the same id', async () => {
    receiver.respond = (_request, response) => response.writeHead(410).end();
    const delivery = await schedule();
    await deliverDue();
    receiver.respond = (_request, response) => response.writeHead(200).end();
    const { deliveries } = domain.callbacks;
    assert.equal(await deliveries.redeliver(randomUUID(), delivery._id), undefined, "another's is not found");
    await deliveries.redeliver(delivery.accountId, delivery._id);
    await deliverDue();
    const { state, error, deliveredAt } = await stateOf(delivery);
    assert.deepEqual([state, error], ['delivered', null]);
    assert.ok(deliveredAt !== null);
    const ids = receiver.received.map(({ headers }) => headers['x-service-delivery-id']);
    assert.deepEqual(ids, [delivery._id, delivery._id]);
  });

  it('deletes deliveries after 90 days', async () => {
    const delivery = await schedule();
    const { deliveries } = domain.callbacks;
    const forget = (now: Date) => endCallbacks(deliveries, domain.stored, now);
    const day = 24 * HOUR_MS;
    assert.equal(await forget(new Date(delivery.createdAt.getTime() + 89 * day)), 0);
    assert.equal(await forget(new Date(delivery.createdAt.getTime() + 91 * day)), 1);
  });
});
