import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { request } from 'node:http';
import type { Agent } from 'undici';
import { PlatenError } from '../../../src/infra/errors/registry.ts';
import type { CallbackSender } from '../../../src/work/callbacks/sender.ts';
import { createPut, deleteUploaded } from '../../../src/work/callbacks/uploads.ts';
import { DeliveredOutputs } from '../../../src/work/jobs/delivered-outputs.ts';
import { eventually } from '../../support/eventually.ts';
import { openSender, Receiver, testAgent } from '../callbacks/support.ts';
import { openApi, type TestApi, type TestCaller } from './support/api.ts';
import { latch } from './support/test-worker.ts';

const HOUR_MS = 3_600_000;
const HTML = '<p>the secret of the document</p>';
const UPLOAD = 'https://127.9.9.1/a.pdf';

describe('A plan that keeps nothing', () => {
  let api: TestApi;
  let caller: TestCaller;
  const features = { callbacks: true, templateVersions: true, revealIp: true };
  const open = async (plan: { retentionHours: number }, syncWaitMs = 300_000) => {
    api = await openApi({ plan: { ...plan, features }, syncWaitMs });
    caller = await api.newCaller();
  };
  afterEach(() => api.close());

  /** The names of all stored files. */
  const files = async () => {
    const all = await readdir(api.outputFolder!, { withFileTypes: true, recursive: true });
    return all.filter((entry) => entry.isFile()).map(({ name }) => name);
  };
  const count = (name: string) => api.domain.connection.db!.collection(name).countDocuments();
  const stored = () => api.domain.stored.of(caller.accountId);
  const record = async (jobId: string) => (await caller.get(`/v1/pdf/jobs/${jobId}`)).json;
  /** Nothing is there of documents: no file, no input, no body of a request; the account is charged for nothing. */
  async function assertNothingKept(records = 0): Promise<void> {
    await api.domain.flush();
    await eventually('the account stores nothing', async () => (await stored()) === records);
    assert.deepEqual(await files(), []);
    for (const name of await api.domain.connection.db!.listCollections().toArray()) {
      const all = await api.domain.connection.db!.collection(name.name).find().toArray();
      const text = JSON.stringify(all) + all.map((one) => Buffer.from(String(one.content ?? ''))).join('');
      assert.ok(!text.includes('the secret of'), name.name);
      assert.ok(!text.includes(Buffer.from('the secret of').toString('base64').slice(2, 14)), name.name);
    }
    assert.equal(await count('job_inputs'), 0);
    assert.equal(await count('request_log_details'), 0);
    assert.equal(await api.domain.store.history.storedBytes(caller.accountId), 0);
  }

  it('sends a caller its PDF, and keeps none of it', async () => {
    await open({ retentionHours: 0 });
    const response = await caller.render({ html: HTML, options: { report: true } });
    assert.equal(response.status, 200);
    assert.equal(Buffer.from(response.bytes).subarray(0, 5).toString(), '%PDF-');
    const jobId = response.headers.get('x-service-job-id')!;
    await eventually('it is noted', async () => !(await record(jobId)).outputAvailable);
    await assertNothingKept();
    const { status, outputExpiresAt, pdfSize, pages } = await record(jobId);
    assert.deepEqual(
      [status, outputExpiresAt, pdfSize, pages],
      ['completed', null, response.bytes.length, 1],
    );
    for (const path of ['file', 'download-url', 'report', 'einvoice']) {
      const { status, json } = await caller.get(`/v1/pdf/jobs/${jobId}/${path}`);
      assert.deepEqual([status, json.code], [404, 'NOT_FOUND'], path);
      if (path !== 'einvoice') assert.match(json.message, /the plan keeps no documents/);
    }
    assert.equal((await api.domain.ledger.find(caller.accountId))?.stored, 0);
  });

  it('refuses what nobody would receive, and accepts nothing of it', async () => {
    await open({ retentionHours: 0 });
    const items = (uploadUrl?: string) =>
      ['a', 'b'].map((id) => ({
        id,
        html: HTML,
        ...(id === 'a' ? { uploadUrl: UPLOAD } : uploadUrl && { uploadUrl }),
      }));
    const refused = [
      [caller.render({ html: HTML, executionMode: 'async' }), /^executionMode: .*give an uploadUrl/],
      [caller.render({ html: HTML, output: 'url' }), /^output: .*"binary"/],
      [caller.render({ html: HTML, uploadUrl: UPLOAD }), /^uploadUrl: .*"async"/],
      [caller.post('/v1/pdf/batch', { items: items() }), /^items: "b" has no uploadUrl/],
      [caller.post('/v1/pdf/batch', { items: items(UPLOAD), expiresInHours: 1 }), /^expiresInHours: /],
    ] as const;
    for (const [asked, why] of refused) {
      const { status, json } = await asked;
      assert.deepEqual([status, json.code], [403, 'PLAN_LIMIT']);
      assert.match(json.message, why);
    }
    assert.deepEqual([await count('jobs'), await count('job_inputs'), await count('batches')], [0, 0, 0]);
    assert.equal(await stored(), 0);
  });

  it('keeps the PDF for whoever repeats a request that broke off, and not after that', async () => {
    await open({ retentionHours: 0 });
    const gate = latch();
    let began = false;
    api.worker.render = async () => {
      began = true;
      await gate.opened;
      return { pages: 3 };
    };
    const headers = { 'idempotency-key': 'once' };
    const body = { html: HTML };
    const outgoing = request(`${api.url}/v1/pdf`, {
      method: 'POST',
      headers: { ...headers, 'x-api-key': caller.secret, 'content-type': 'application/json' },
    });
    outgoing.on('error', () => undefined);
    outgoing.end(JSON.stringify(body));
    await eventually('it is rendered', () => began);
    outgoing.destroy();
    gate.open();
    await eventually('it is there', async () => (await files()).length === 1);
    await api.domain.flush();
    const again = await caller.render(body, headers);
    assert.equal(again.status, 200);
    assert.equal(again.headers.get('x-service-pages'), '3');
    await eventually('it is deleted', async () => (await files()).length === 0);
    const third = await caller.render(body, headers);
    assert.deepEqual([third.status, third.json.code], [410, 'GONE']);
    assert.match(third.json.message, /the plan keeps no documents/);
    await assertNothingKept();
  });

  it('keeps the PDF of a response that the caller has not received whole', async () => {
    await open({ retentionHours: 0 });
    const pdf = Buffer.alloc(9_000_000, '%PDF-1.7 ');
    api.worker.render = async () => ({ pages: 1, pdf });
    const headers = { 'idempotency-key': 'large' };
    await new Promise<void>((resolve) => {
      const outgoing = request(
        `${api.url}/v1/pdf`,
        {
          method: 'POST',
          headers: { ...headers, 'x-api-key': caller.secret, 'content-type': 'application/json' },
        },
        (response) => {
          response.once('readable', () => {
            outgoing.destroy();
            resolve();
          });
          response.on('error', () => undefined);
        },
      );
      outgoing.on('error', () => undefined);
      outgoing.end(JSON.stringify({ html: HTML }));
    });
    await api.domain.flush();
    assert.equal((await files()).length, 1);
    const again = await caller.render({ html: HTML }, headers);
    assert.deepEqual([again.status, pdf.equals(again.bytes)], [200, true]);
    await eventually('it is deleted', async () => (await files()).length === 0);
  });

  it('lets a caller that was told to come back fetch its PDF once', async () => {
    await open({ retentionHours: 0 }, 50);
    const gate = latch();
    api.worker.render = async () => {
      await gate.opened;
      return { pages: 1 };
    };
    const accepted = await caller.render({ html: HTML });
    assert.equal(accepted.status, 202);
    gate.open();
    const { jobId } = accepted.json;
    await eventually('it is completed', async () => (await record(jobId)).status === 'completed');
    const { outputAvailable, outputExpiresAt, completedAt } = await record(jobId);
    assert.equal(outputAvailable, true);
    const waits = Date.parse(outputExpiresAt) - Date.parse(completedAt);
    assert.ok(waits >= HOUR_MS && waits <= 2 * HOUR_MS, String(waits));
    assert.equal((await caller.call('HEAD', `/v1/pdf/jobs/${jobId}/file`)).status, 200);
    assert.equal((await caller.get(`/v1/pdf/jobs/${jobId}/file`)).status, 200);
    await eventually('it is noted', async () => !(await record(jobId)).outputAvailable);
    assert.equal((await caller.get(`/v1/pdf/jobs/${jobId}/file`)).status, 404);
    await assertNothingKept();
  });

  it('deletes a PDF that nobody has fetched two hours after it was made', async () => {
    await open({ retentionHours: 0 }, 1);
    const { jobId } = (await caller.render({ html: HTML })).json;
    await eventually('it is completed', async () => (await record(jobId)).status === 'completed');
    await api.domain.flush();
    const ended = api.domain.clock.now().getTime();
    assert.equal(await api.outputs.deleteExpired(new Date(ended + HOUR_MS - 60_000)), 0);
    assert.equal(await api.outputs.deleteExpired(new Date(ended + 2 * HOUR_MS)), 1);
    const { status, json } = await caller.get(`/v1/pdf/jobs/${jobId}/file`);
    assert.equal(status, 404);
    assert.match(json.message, /was not fetched in time/);
  });

  it('keeps no input of a render that fails', async () => {
    await open({ retentionHours: 0 });
    api.worker.render = async () => ({ fails: new PlatenError('RENDER_FAILED', 'No.') });
    const failed = await caller.render({ html: HTML });
    assert.equal(failed.json.code, 'RENDER_FAILED');
    assert.equal((await record(failed.json.jobId)).status, 'failed');
    await assertNothingKept();
  });

  describe('with uploads', () => {
    let agent: Agent;
    let receiver: Receiver;
    let sender: CallbackSender;

    const openUploads = async (retentionHours: number) => {
      await open({ retentionHours });
      agent = testAgent();
      receiver = await Receiver.start();
      const { clock, callbacks } = api.domain;
      sender = openSender(api.domain, agent, {
        deliveries: callbacks.uploads,
        send: createPut(agent, { outputs: api.outputs, clock }, 10_000),
        onAttempt: deleteUploaded({
          ...api.domain,
          delivered: new DeliveredOutputs({ ...api.domain, outputs: api.outputs, logger: api.core.logger }),
        }),
      });
    };
    afterEach(async () => {
      await sender.stop(0);
      await agent.destroy();
      await receiver.close();
    });
    const send = async () => {
      await sender.send();
      await sender.idle();
    };

    it('deletes the PDF of a background job when its upload has ended, not before', async () => {
      await openUploads(0);
      receiver.respond = (_request, response) => response.writeHead(503).end();
      const { json } = await caller.render({
        html: HTML,
        executionMode: 'async',
        uploadUrl: receiver.url('/a'),
      });
      await eventually('it is tried', async () => {
        await send();
        return receiver.received.length === 1;
      });
      assert.deepEqual((await files()).length, 1);
      receiver.respond = (_request, response) => response.writeHead(200).end();
      api.domain.clock.pass(60_000);
      await eventually('it has arrived', async () => {
        await send();
        return receiver.received.length === 2;
      });
      await eventually('it is noted', async () => !(await record(json.jobId)).outputAvailable);
      assert.match(receiver.received[1]!.body, /^%PDF-/);
      const { status, upload } = await record(json.jobId);
      assert.deepEqual([status, upload.status], ['completed', 'delivered']);
      await assertNothingKept(await stored());
    });

    it('delivers a batch that asks for it under a plan that keeps PDFs', async () => {
      await openUploads(24);
      const items = ['a', 'b'].map((id) => ({ id, html: HTML, uploadUrl: receiver.url(`/${id}`) }));
      const some = await caller.post('/v1/pdf/batch', {
        items: [items[0], { id: 'b', html: HTML }],
        expiresInHours: 0,
      });
      assert.deepEqual([some.status, some.json.code], [403, 'PLAN_LIMIT']);
      const { json } = await caller.post('/v1/pdf/batch', { items, expiresInHours: 0 });
      const batch = async () => (await caller.get(`/v1/pdf/batch/${json.jobId}`)).json;
      await eventually('all have arrived', async () => {
        await send();
        return receiver.received.length === 2;
      });
      await eventually('nothing is left', async () => (await files()).length === 0);
      await eventually('it has ended', async () => (await batch()).status === 'completed');
      const shown = await batch();
      assert.deepEqual(
        shown.items.map((item: { status: string; outputAvailable: boolean; upload: { status: string } }) => [
          item.status,
          item.outputAvailable,
          item.upload.status,
        ]),
        [
          ['completed', false, 'delivered'],
          ['completed', false, 'delivered'],
        ],
      );
      assert.equal(shown.job.accessExpired, true);
      for (const path of ['zip', 'pdf', 'a', 'items/a/download-url']) {
        const { status, json: gone } = await caller.get(`/v1/pdf/batch/${json.jobId}/${path}`);
        assert.deepEqual([status, gone.code], [410, 'GONE'], path);
        assert.match(gone.message, /not kept: each was put to its uploadUrl/);
      }
      await eventually('no input is left', async () => (await count('job_inputs')) === 0);
      await eventually('nor what inputs share', async () => (await count('job_input_chunks')) === 0);
    });
  });
});
