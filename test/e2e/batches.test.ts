import assert from 'node:assert/strict';
import mongoose from 'mongoose';
import { eventually } from '../support/eventually.ts';
import { assertNothingHeld } from '../support/held.ts';
import { readPdf } from '../support/pdf.ts';
import { type PlansFile, writePlansFile } from '../support/plans-file.ts';
import { openStandaloneService, type Tenant, type TestService } from '../support/service.ts';
import { unzip } from '../support/unzip.ts';
import { serveWebPages, type WebPages } from '../support/web-pages.ts';

const GOOD_ITEMS = 12;
const MAX_OUTPUT_BYTES = 300_000;
/** Enough slots that the good ones go on beside those that take their time. */
const PLAN = {
  monthlyRenders: 1000,
  requestsPerMinute: 1_000_000,
  concurrentRenders: 6,
  maxOutputSizeBytes: MAX_OUTPUT_BYTES,
};

const ENDLESS = '<script>for (;;);</script>';
/** Allocates without end, for which its renderer process is ended. */
const CRASHING = `<script>const hog = []; setInterval(() => hog.push(new Uint8Array(40_000_000).fill(1)), 5)</script>`;
/** A picture of noise, which no compression makes smaller. */
const HUGE = `<canvas id=c width=700 height=700></canvas><script>
  const context = c.getContext('2d'), image = context.createImageData(700, 700);
  for (let i = 0; i < image.data.length; i++) image.data[i] = i % 4 === 3 ? 255 : Math.random() * 256;
  context.putImageData(image, 0, 0);
</script>`;

interface ItemRecord {
  readonly itemId: string;
  readonly status: string;
  readonly outputAvailable: boolean;
  readonly error: { readonly code: string } | null;
}

describe('a batch with bad items', () => {
  let service: TestService;
  let plans: PlansFile;
  let tenant: Tenant;
  let pages: WebPages;

  before(async () => {
    plans = await writePlansFile({ business: PLAN });
    service = await openStandaloneService({ PLATEN_PLANS_FILE: plans.path });
    tenant = await service.newTenant('business');
    pages = await serveWebPages({
      '/page': '<h1>Over the network</h1>',
      '/inwards': (_request, response) => {
        response.writeHead(302, { location: 'http://169.254.169.254/latest/meta-data' }).end();
      },
    });
  });
  after(async () => {
    await pages?.close();
    await service?.stop();
    await plans?.remove();
  });

  it('ends completed: each bad item has its own code, each good one its own PDF', async () => {
    const endless = await service.saveTemplate(tenant, '{% for i in (1..100000000) %}{{ i }}{% endfor %}');
    const letter = await service.saveTemplate(tenant, '<p>Dear {{ name }}</p>');
    const bad: Record<string, [code: string, item: object]> = {
      'no such host': ['URL_UNREACHABLE', { url: 'http://no-such-name.invalid/' }],
      'nobody listens': ['URL_UNREACHABLE', { url: 'http://127.0.0.1:9/' }],
      'no such page': ['URL_UNREACHABLE', { url: `${pages.url}/missing` }],
      'private address': ['URL_BLOCKED', { url: 'http://10.1.2.3/' }],
      'redirected inwards': ['URL_BLOCKED', { url: `${pages.url}/inwards` }],
      'endless script': ['RENDER_TIMEOUT', { html: ENDLESS, options: { timeoutMs: 1500 } }],
      crash: [
        'BROWSER_CRASHED',
        { html: CRASHING, options: { waitForSelector: '#never', timeoutMs: 60_000 } },
      ],
      'huge output': ['OUTPUT_TOO_LARGE', { html: HUGE }],
      'template error': ['TEMPLATE_ERROR', { templateId: endless.templateId, data: {} }],
      'no such element': [
        'SELECTOR_TIMEOUT',
        // Enough for a busy machine to come as far as to wait for it.
        { html: 'x', options: { waitForSelector: '#n', timeoutMs: 4000 } },
      ],
    };
    const good = Object.fromEntries(
      Array.from({ length: GOOD_ITEMS }, (_, i) => [
        `good/${i} ü`,
        { html: `<p>The good item number ${i}.</p>` },
      ]),
    );
    const items = Object.entries({
      ...good,
      ...Object.fromEntries(Object.entries(bad).map(([id, [, item]]) => [id, item])),
      page: { url: `${pages.url}/page` },
      letter: { templateId: letter.templateId, data: { name: 'Ada' } },
    }).map(([id, item]) => ({ id, ...item }));
    // The bad ones stand among the others.
    items.sort((a, b) => a.id.length - b.id.length);

    const accepted = await tenant.client.call('POST', '/v1/pdf/batch', { items });
    assert.equal(accepted.status, 202, Buffer.from(accepted.bytes).toString().slice(0, 500));
    const path = `/v1/pdf/batch/${accepted.json.jobId}`;
    const read = async () => (await tenant.client.call('GET', path)).json;
    await eventually('the batch has ended', async () => (await read()).finishedAt !== null);

    const batch = await read();
    const found = new Map<string, ItemRecord>(batch.items.map((item: ItemRecord) => [item.itemId, item]));
    const codes = Object.keys(bad).map((id) => [id, found.get(id)?.status, found.get(id)?.error?.code]);
    assert.deepEqual(
      codes,
      Object.entries(bad).map(([id, [code]]) => [id, 'failed', code]),
    );
    assert.equal(batch.status, 'completed');
    const [failed, completed] = [Object.keys(bad).length, GOOD_ITEMS + 2];
    assert.deepEqual(batch.progress, {
      total: failed + completed,
      completed,
      failed,
      pending: 0,
      throttled: 0,
      percentComplete: 100,
    });

    const textOf = async (id: string) => {
      const reply = await tenant.client.call('GET', `${path}/${encodeURIComponent(id)}`);
      assert.equal(reply.status, 200, id);
      return (await readPdf(reply.bytes)).text;
    };
    for (let i = 0; i < GOOD_ITEMS; i += 1) {
      assert.match(await textOf(`good/${i} ü`), new RegExp(`The good item number ${i}\\.`));
    }
    assert.match(await textOf('page'), /Over the network/);
    assert.match(await textOf('letter'), /Dear Ada/);
    for (const id of Object.keys(bad)) {
      assert.equal(found.get(id)?.outputAvailable, false, id);
      assert.equal((await tenant.client.call('GET', `${path}/${encodeURIComponent(id)}`)).status, 404, id);
    }

    const zip = await tenant.client.call('GET', `${path}/zip`);
    assert.equal(zip.status, 200);
    assert.equal((await unzip(zip.bytes)).length, completed, 'the good ones are in the zip');

    const connection = await mongoose.createConnection(service.mongodbUri).asPromise();
    try {
      await assertNothingHeld(connection);
      const ledgers = connection.collection<{ _id: string; quota?: object }>('ledgers');
      const ledger = await ledgers.findOne({ _id: tenant.accountId });
      assert.deepEqual(Object.values(ledger?.quota ?? {}), [completed], 'the good ones alone use quota');
    } finally {
      await connection.close();
    }
  });

  it('is followed no further by a process that ends: the stream closes at once, and is not the end', async () => {
    const item = { html: '<p>slow</p>', options: { delayMs: 4000 } };
    const items = Array.from({ length: 20 }, (_, i) => ({ id: `${i}`, ...item }));
    const { jobId } = (await tenant.client.call('POST', '/v1/pdf/batch', { items })).json;
    const { url, key } = tenant.client;
    const reply = await fetch(`${url}/v1/pdf/batch/${jobId}/events`, { headers: { 'x-api-key': key } });
    const standalone = service.roles.get('standalone')!;
    let stopped = false;
    let over = false;
    void standalone.ended.then(() => {
      over = true;
    });
    let text = '';
    for await (const chunk of reply.body!.pipeThrough(new TextDecoderStream())) {
      text += chunk;
      if (!text.includes('event: progress') || stopped) continue;
      stopped = true;
      standalone.signal('SIGTERM');
    }
    assert.doesNotMatch(text, /event: end/);
    // What runs goes on for longer than this: the stream was not closed by the process's end.
    assert.equal(over, false);
    assert.equal(await standalone.ended, 0);
  });
});
