import assert from 'node:assert/strict';
import { request } from 'node:http';
import { connect } from 'node:net';
import { eventually } from '../../support/eventually.ts';
import { type TestCaller, useApi } from './support/api.ts';
import { latch } from './support/test-worker.ts';

describe('A caller that hangs up', () => {
  const api = useApi({ plan: { concurrentRenders: 1 } });
  let caller: TestCaller;
  /** Holds the account's only slot, so that the next render does not start. */
  let blocker: ReturnType<typeof latch>;

  beforeEach(async () => {
    caller = await api.newCaller();
    blocker = latch();
    api.worker.render = async () => {
      await blocker.opened;
      return { pages: 1 };
    };
  });
  afterEach(() => blocker.open());

  const jobs = async (status: string): Promise<string[]> =>
    (await caller.get(`/v1/pdf/jobs?status=${status}`)).json.jobs.map((job: { jobId: string }) => job.jobId);

  /** Resolves once a render holds the account's only slot: until then, that render would be the waiting one. */
  async function takeSlot(): Promise<void> {
    await caller.render({ html: 'x', executionMode: 'async' });
    await eventually('the slot is taken', async () => (await jobs('processing')).length === 1);
  }

  /** Starts a sync render. @returns a function that hangs up. */
  function begin(headers: Record<string, string> = {}): () => void {
    const outgoing = request(`${api.url}/v1/pdf`, {
      method: 'POST',
      headers: { 'x-api-key': caller.secret, 'content-type': 'application/json', ...headers },
    });
    outgoing.on('error', () => undefined);
    outgoing.end('{"html":"x"}');
    return () => outgoing.destroy();
  }

  it('cancels its render if it has not started', async () => {
    await takeSlot();
    const hangUp = begin();
    await eventually('it waits', async () => (await jobs('queued')).length === 1);
    const [waiting] = await jobs('queued');
    hangUp();
    await eventually('it is cancelled', async () => (await jobs('cancelled')).includes(waiting!));
    assert.deepEqual(await jobs('queued'), []);
  });

  it('does not cancel a render with an Idempotency-Key', async () => {
    await takeSlot();
    const hangUp = begin({ 'idempotency-key': 'order 66' });
    await eventually('it waits', async () => (await jobs('queued')).length === 1);
    const [waiting] = await jobs('queued');
    hangUp();
    await new Promise((resolve) => setTimeout(resolve, 300));
    assert.deepEqual(await jobs('queued'), [waiting]);
    blocker.open();
    await eventually('it is completed', async () => (await jobs('completed')).includes(waiting!));
  });

  it('does not cancel a render that is running', async () => {
    const hangUp = begin();
    await eventually('it runs', async () => (await jobs('processing')).length === 1);
    const [running] = await jobs('processing');
    hangUp();
    await new Promise((resolve) => setTimeout(resolve, 300));
    blocker.open();
    await eventually('it is completed', async () => (await jobs('completed')).includes(running!));
  });

  it('is logged as 499 with its job', async () => {
    const hangUp = begin();
    await eventually('it runs', async () => (await jobs('processing')).length === 1);
    const [running] = await jobs('processing');
    hangUp();
    await eventually('it is logged', () =>
      api.log.some((line) => line.includes('"status":499') && line.includes(running!)),
    );
  });

  it('during its body leaves no job and no error', async () => {
    const socket = connect(api.port, '127.0.0.1');
    socket.write(
      `POST /v1/pdf HTTP/1.1\r\nHost: platen\r\nX-Request-Id: cut-off\r\nContent-Type: application/json\r\nX-API-Key: ${caller.secret}\r\nContent-Length: 100\r\n\r\n{"html":`,
    );
    await new Promise((resolve) => setTimeout(resolve, 200));
    socket.destroy();
    await eventually('it is logged', () => api.log.some((line) => line.includes('cut-off')));
    const lines = api.log.filter((line) => line.includes('cut-off'));
    assert.equal(lines.length, 1);
    assert.match(lines[0]!, /"level":30.*"status":499/);
    assert.equal((await caller.get('/v1/pdf/jobs')).json.total, 0);
  });
});
