import assert from 'node:assert/strict';
import { get, type IncomingMessage } from 'node:http';
import { eventually } from '../../support/eventually.ts';
import { type TestCaller, useApi } from '../http/support/api.ts';
import { latch } from '../http/support/test-worker.ts';

interface ServerEvent {
  readonly name: string;
  readonly id: string;
  readonly data: { status: string; progress: { completed: number; failed: number; pending: number } };
}

/** A connection that follows a batch, as a browser's EventSource does. */
class Follower {
  #text = '';
  #response: IncomingMessage | undefined;
  ended = false;
  readonly responded: Promise<IncomingMessage>;

  constructor(caller: TestCaller, batchId: string, headers: Record<string, string> = {}) {
    this.responded = new Promise((resolve, reject) => {
      const options = { headers: { 'x-api-key': caller.secret, ...headers } };
      get(`${caller.url}/v1/pdf/batch/${batchId}/events`, options, (response) => {
        this.#response = response;
        response.on('data', (chunk: Buffer) => {
          this.#text += chunk.toString();
        });
        response.on('end', () => {
          this.ended = true;
        });
        response.on('error', () => undefined);
        resolve(response);
      }).on('error', reject);
    });
  }

  get events(): ServerEvent[] {
    return this.#text
      .split('\n\n')
      .filter((block) => block.startsWith('event: '))
      .map((block) => {
        const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(block)?.[1] ?? '';
        return { name: field('event'), id: field('id'), data: JSON.parse(field('data')) };
      });
  }

  hangUp(): void {
    this.#response?.destroy();
  }
}

describe('GET /v1/pdf/batch/:id/events', () => {
  const api = useApi({ plan: { concurrentRenders: 2 } });
  let caller: TestCaller;
  let gates: ReturnType<typeof latch>[];

  beforeEach(async () => {
    caller = await api.newCaller();
    gates = [];
    api.worker.render = async () => {
      const gate = latch();
      gates.push(gate);
      await gate.opened;
      return { pages: 1 };
    };
  });

  async function submit(count: number): Promise<string> {
    const items = Array.from({ length: count }, (_, i) => ({ id: `item-${i}`, html: `<p>${i}</p>` }));
    const reply = await caller.post('/v1/pdf/batch', { items });
    assert.equal(reply.status, 202);
    return reply.json.jobId;
  }

  /** Lets this many renders end, one after the other as they come. */
  async function end(count: number): Promise<void> {
    for (let i = 0; i < count; i += 1) {
      await eventually('a render has begun', () => gates.length > 0);
      gates.shift()!.open();
    }
  }

  it('reports the progress until the end, and closes', async () => {
    const batchId = await submit(6);
    const follower = new Follower(caller, batchId);
    const response = await follower.responded;
    assert.equal(response.statusCode, 200);
    assert.equal(response.headers['content-type'], 'text/event-stream');
    assert.equal(response.headers['cache-control'], 'no-store');
    await eventually('how it stands', () => follower.events.length > 0);
    await end(3);
    await eventually('half', () => follower.events.at(-1)?.data.progress.completed === 3);
    await end(3);
    await eventually('the end', () => follower.ended);
    const last = follower.events.at(-1)!;
    assert.deepEqual([last.name, last.data.status], ['end', 'completed']);
    assert.deepEqual([last.data.progress.completed, last.data.progress.pending], [6, 0]);
    assert.equal(follower.events.filter(({ name }) => name === 'end').length, 1);
    const completed = follower.events.map(({ data }) => data.progress.completed);
    assert.deepEqual(
      completed,
      [...completed].sort((a, b) => a - b),
      'it only grows',
    );
  });

  it('goes on after a broken connection where the caller has been', async () => {
    const batchId = await submit(4);
    const first = new Follower(caller, batchId);
    await end(1);
    await eventually('one', () => first.events.at(-1)?.data.progress.completed === 1);
    const seen = first.events.at(-1)!.id;
    first.hangUp();
    const second = new Follower(caller, batchId, { 'Last-Event-ID': seen });
    await second.responded;
    await end(1);
    await eventually('another', () => second.events.length > 0);
    assert.equal(second.events[0]!.data.progress.completed, 2, 'and nothing that was seen before');
    await end(2);
    await eventually('the end', () => second.ended);
    const third = new Follower(caller, batchId, { 'Last-Event-ID': '3-processing' });
    await eventually('the end, again', () => third.ended);
    assert.deepEqual(
      third.events.map(({ name }) => name),
      ['end'],
    );
  });

  it('is over for a caller that has seen the end: 204, after which an EventSource does not come again', async () => {
    const batchId = await submit(2);
    const follower = new Follower(caller, batchId);
    await end(2);
    await eventually('the end', () => follower.ended);
    const seen = follower.events.at(-1)!;
    assert.equal(seen.name, 'end');
    const again = await caller.call('GET', `/v1/pdf/batch/${batchId}/events`, undefined, {
      'Last-Event-ID': seen.id,
    });
    assert.equal(again.status, 204);
    assert.equal(again.bytes.length, 0);
    const running = await submit(2);
    const other = new Follower(caller, running, { 'Last-Event-ID': seen.id });
    assert.equal(
      (await other.responded).statusCode,
      200,
      'the end of another batch says nothing of this one',
    );
    await end(2);
    await eventually('its end', () => other.ended);
    assert.equal(other.events.at(-1)?.name, 'end');
  });

  it('reports the end of a cancelled batch once its last render has ended', async () => {
    const batchId = await submit(10);
    await eventually('two run', () => gates.length === 2);
    const follower = new Follower(caller, batchId);
    assert.equal((await caller.delete(`/v1/pdf/batch/${batchId}`)).status, 200);
    await eventually('eight are cancelled', () => follower.events.at(-1)?.data.progress.failed === 8);
    assert.equal(follower.events.at(-1)?.data.status, 'cancelled');
    assert.equal(follower.ended, false);
    await end(2);
    await eventually('the end', () => follower.ended);
    const { name, data } = follower.events.at(-1)!;
    assert.deepEqual([name, data.status, data.progress.completed], ['end', 'cancelled', 2]);
  });

  it("rejects the twenty-first stream of an account, and no other account's", async () => {
    const batchId = await submit(2);
    const followers = Array.from({ length: 20 }, () => new Follower(caller, batchId));
    for (const follower of followers) assert.equal((await follower.responded).statusCode, 200);
    const refused = await caller.get(`/v1/pdf/batch/${batchId}/events`);
    assert.deepEqual([refused.status, refused.json.code], [429, 'TOO_MANY_WAITING']);
    assert.equal(refused.headers.get('retry-after'), '5');
    const mine = caller;
    caller = await api.newCaller();
    const other = new Follower(caller, await submit(2));
    assert.equal((await other.responded).statusCode, 200);
    followers[0]!.hangUp();
    await eventually('room again', async () => {
      const again = new Follower(mine, batchId);
      const { statusCode } = await again.responded;
      again.hangUp();
      return statusCode === 200;
    });
    for (const follower of [...followers, other]) follower.hangUp();
    await end(4);
  });

  it('is not shown to others, and HEAD holds no stream', async () => {
    const batchId = await submit(2);
    const other = await api.newCaller();
    assert.equal((await other.get(`/v1/pdf/batch/${batchId}/events`)).status, 404);
    for (let i = 0; i < 25; i += 1) {
      assert.equal((await caller.call('HEAD', `/v1/pdf/batch/${batchId}/events`)).status, 200);
    }
    await end(2);
  });
});
