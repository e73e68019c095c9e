import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { createServer, type Server } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type ConnectionOptions,
  createApi,
  dataOf,
  PlatenAbortError,
  PlatenApiError,
  PlatenClient,
  PlatenConnectionError,
  PlatenJobError,
  signIn,
} from '../../../clients/typescript/src/index.ts';
import { PASSWORD } from '../../support/account-client.ts';
import { runCommand } from '../../support/command.ts';
import { eventually } from '../../support/eventually.ts';
import { readPdf } from '../../support/pdf.ts';
import { openStandaloneService, SHORT_LEASE, type Tenant, type TestService } from '../../support/service.ts';
import { serveWebPages, type WebPages } from '../../support/web-pages.ts';
import {
  reachBatches,
  reachBilling,
  reachKeys,
  reachLog,
  reachNotifications,
  reachRenders,
  reachSessions,
  reachTemplates,
  reachWebhooks,
} from './reach-account-routes.ts';
import { watched } from './watched.ts';

/** How long the service has a caller wait for a PDF. */
const SYNC_WAIT_MS = 4000;
/** Longer than that. */
const SLOW_MS = 6000;
const NOWHERE = '00000000-0000-4000-8000-000000000000';

describe('the TypeScript client', () => {
  let service: TestService;
  let tenant: Tenant;
  let pages: WebPages;
  let client: PlatenClient;

  before(async () => {
    service = await openStandaloneService({ ...SHORT_LEASE, PLATEN_SYNC_WAIT_MS: String(SYNC_WAIT_MS) });
    tenant = await service.newTenant('business');
    client = clientOf(tenant);
    pages = await serveWebPages({
      '/slow': (_request, response) => {
        setTimeout(
          () => response.writeHead(200, { 'content-type': 'text/html' }).end('<p>slow</p>'),
          SLOW_MS,
        );
      },
    });
  });
  after(async () => {
    await pages?.close();
    await service?.stop();
  });

  function clientOf(
    { client: { key } }: { client: Pick<Tenant['client'], 'key'> },
    options: Partial<ConnectionOptions> = {},
  ): PlatenClient {
    return new PlatenClient({ baseUrl: service.url, apiKey: key, ...options });
  }

  it('renders a document', async () => {
    const pdf = await client.render({
      html: '<h1>Hello, client</h1>',
      options: { width: '148mm', height: '210mm', pageRanges: '1', cookies: [] },
    });
    assert.match((await readPdf(pdf.bytes)).text, /Hello, client/);
    assert.equal(pdf.pages, 1);
    assert.ok(pdf.processingTimeMs > 0);
    assert.ok(pdf.expiresAt !== undefined && pdf.expiresAt.getTime() > Date.now());
    assert.equal((await client.job(pdf.jobId)).status, 'completed');
  });

  it('follows a render that takes longer than the service waits', async () => {
    const { statuses, fetch } = watched();
    const pdf = await clientOf(tenant, { fetch }).render({ url: `${pages.url}/slow` });
    assert.match((await readPdf(pdf.bytes)).text, /slow/);
    assert.equal(statuses[0], 202);
    assert.ok(statuses.length < 15, `${statuses.length} requests`);
    assert.equal(pdf.pages, 1);
    assert.ok(pdf.expiresAt !== undefined);
  });

  it('makes one job of two calls with one idempotency key', async () => {
    const idempotencyKey = randomUUID();
    const calls = [1, 2].map(() => client.render({ html: '<p>once</p>' }, { idempotencyKey }));
    const [first, second] = await Promise.all(calls);
    assert.equal(first?.jobId, second?.jobId);
    assert.deepEqual(first?.bytes, second?.bytes);
  });

  it('renders in the background, lists, links and fetches', async () => {
    const own = await service.newTenant('business');
    const mine = clientOf(own);
    const ids: string[] = [];
    for (let i = 0; i < 3; i += 1) ids.push((await mine.renderAsync({ html: `<p>${i}</p>` })).jobId);
    const pdfs = await Promise.all(ids.map((id) => mine.result(id)));
    assert.deepEqual(
      pdfs.map(({ jobId }) => jobId),
      ids,
    );
    assert.match((await readPdf(pdfs[2]!.bytes)).text, /2/);
    const listed: string[] = [];
    for await (const job of mine.jobs({ status: 'completed', sort: 'created_asc' })) listed.push(job.jobId);
    assert.deepEqual(listed, ids);
    const { url } = await mine.downloadUrl(ids[0]!);
    const linked = new Uint8Array(await (await fetch(url)).arrayBuffer());
    assert.deepEqual(linked, pdfs[0]!.bytes);
  });

  it('lists more jobs than fit on a page', async () => {
    const own = clientOf(await service.newTenant('business'));
    const ids = new Set<string>();
    for (let i = 0; i < 103; i += 1) ids.add((await own.renderAsync({ html: '<p>x</p>' })).jobId);
    const listed: string[] = [];
    for await (const job of own.jobs()) listed.push(job.jobId);
    assert.equal(listed.length, 103);
    assert.deepEqual(new Set(listed), ids);
    for (const id of ids) await own.cancel(id).catch(() => undefined);
  });

  it('reports the errors of a request', async () => {
    const wrong = client.render({ html: '<p>x</p>', options: { scale: 9, delayMs: -1 } });
    await assert.rejects(wrong, (error: unknown) => {
      assert.ok(error instanceof PlatenApiError);
      assert.deepEqual([error.status, error.code, error.messages.length], [400, 'VALIDATION', 2]);
      assert.match(error.remedy!, /field/);
      assert.match(error.docsUrl!, /^http.*\/docs\/errors#VALIDATION$/);
      assert.match(error.message, /options\.scale/);
      assert.match(error.requestId ?? '', /^[0-9a-f-]{36}$/);
      return true;
    });
    await assert.rejects(clientOf({ client: { key: 'sk_live_no' } }).job(NOWHERE), {
      status: 401,
      code: 'UNAUTHENTICATED',
    });
    await assert.rejects(client.job(NOWHERE), { status: 404, code: 'NOT_FOUND' });
  });

  it('reports why a render failed, within the sync wait window and after it', async () => {
    const never = { html: '<p>x</p>', options: { waitForSelector: '#never', timeoutMs: 1000 } };
    let held: PlatenJobError | undefined;
    await assert.rejects(client.render(never), (error: unknown) => {
      assert.ok(error instanceof PlatenJobError);
      assert.deepEqual([error.status, error.code], [400, 'SELECTOR_TIMEOUT']);
      assert.ok(error.jobId);
      held = error;
      return true;
    });
    const { jobId } = await client.renderAsync(never);
    await assert.rejects(client.result(jobId), (error: unknown) => {
      assert.ok(error instanceof PlatenJobError);
      assert.deepEqual([error.code, error.remedy], ['SELECTOR_TIMEOUT', held?.remedy]);
      assert.equal(error.docsUrl, `${service.url}/docs/errors#SELECTOR_TIMEOUT`);
      assert.equal(error.job?.status, 'failed');
      return true;
    });
    // Of two attempts.
    const timeoutMs = SYNC_WAIT_MS / 2 + 500;
    const endless = { html: '<script>for (;;);</script>', options: { timeoutMs } };
    await assert.rejects(client.render(endless), (error: unknown) => {
      assert.ok(error instanceof PlatenJobError);
      assert.deepEqual([error.code, error.job?.attemptCount], ['RENDER_TIMEOUT', 2]);
      return true;
    });
  });

  it('cancels, also twice, but not what has ended', async () => {
    const { jobId } = await client.renderAsync({ url: `${pages.url}/slow` });
    const result = client.result(jobId);
    const rejected = assert.rejects(result, { name: 'PlatenJobError', code: 'CANCELLED', jobId });
    assert.equal((await client.cancel(jobId)).status, 'cancelled');
    assert.equal((await client.cancel(jobId)).status, 'cancelled');
    await rejected;
    const done = await client.render({ html: '<p>done</p>' });
    await assert.rejects(client.cancel(done.jobId), { status: 409, code: 'JOB_ENDED' });
  });

  it('ends when its caller wants it to, with the reason', async () => {
    const reason = new Error('enough');
    const controller = new AbortController();
    const { statuses, fetch } = watched();
    const slow = { url: `${pages.url}/slow` };
    const call = clientOf(tenant, { fetch }).render(slow, { signal: controller.signal });
    const rejected = assert.rejects(call, (error: unknown) => {
      assert.ok(error instanceof PlatenAbortError);
      assert.deepEqual([error.name, error.cause], ['AbortError', reason]);
      assert.match(error.jobId ?? '', /^[0-9a-f-]{36}$/);
      return true;
    });
    await eventually('it follows the job', () => statuses.length > 0);
    controller.abort(reason);
    await rejected;
    assert.equal(statuses[0], 202);
    await assert.rejects(client.job(NOWHERE, { signal: AbortSignal.abort(reason) }), {
      name: 'AbortError',
      cause: reason,
      jobId: NOWHERE,
    });
  });

  /** The minute that requests are counted in begins at another second for each account. */
  async function tenantWhoseMinuteIsAlmostOver(): Promise<Tenant> {
    for (;;) {
      const candidate = await service.newTenant('free');
      const { headers } = await candidate.client.call('GET', '/v1/pdf/jobs');
      const seconds = Number(/t=(\d+)/.exec(headers.get('ratelimit') ?? '')?.[1]);
      if (seconds >= 4 && seconds <= 10) return candidate;
    }
  }

  it('waits for as long as a rate limit requests', async () => {
    const { statuses, fetch } = watched();
    const limited = await tenantWhoseMinuteIsAlmostOver();
    const patient = clientOf(limited, { fetch });
    let asked = 0;
    while (!statuses.includes(429)) {
      await patient.renderAsync({ html: '<p>x</p>' });
      asked += 1;
    }
    assert.equal(statuses.filter((status) => status === 202).length, asked);
    assert.ok(asked > 10);
    const hasty = clientOf(limited, { retry: { giveUpAfterMs: 100 } });
    const refused = async () => {
      for (let i = 0; i < 20; i += 1) await hasty.renderAsync({ html: '<p>x</p>' });
    };
    await assert.rejects(refused, { status: 429, code: 'RATE_LIMITED' });
  });

  it('gives up on a service that is not there', async () => {
    const { port, close } = await closedPort();
    const { statuses, fetch } = watched();
    const lost = new PlatenClient({
      baseUrl: `http://127.0.0.1:${port}`,
      apiKey: 'sk_live_x',
      fetch,
      retry: { firstMs: 50, longestMs: 200, giveUpAfterMs: 2500 },
    });
    await assert.rejects(lost.job(NOWHERE), PlatenConnectionError);
    assert.ok(statuses.length > 2);
    close();
  });

  it('signs in, renders what the account has saved, and signs out', async () => {
    const email = `${randomUUID()}@example.com`;
    const connection = { baseUrl: service.url };
    await dataOf(createApi(connection).POST('/auth/register', { body: { email, password: PASSWORD } }));
    const account = await signIn(connection, { email, password: PASSWORD });
    const { apiKey } = await dataOf(account.POST('/user/api-keys', { body: { name: 'mine' } }));
    const template = await dataOf(
      account.POST('/user/templates', { body: { name: 'note', content: '<p>Dear {{ name }}</p>' } }),
    );
    const own = new PlatenClient({ ...connection, apiKey });
    const pdf = await own.render({ templateId: template.id, data: { name: 'Ada' } });
    assert.match((await readPdf(pdf.bytes)).text, /Dear Ada/);
    const usage = await dataOf(account.GET('/user/usage', { params: { query: { period: '1d' } } }));
    assert.deepEqual([usage.plan, usage.remaining], ['free', 99]);
    await dataOf(account.POST('/auth/logout'));
    await assert.rejects(dataOf(account.GET('/auth/me')), { status: 401 });
    await assert.rejects(signIn(connection, { email, password: 'not this one' }), { status: 401 });
  });

  it('reaches every account route', async () => {
    const asked = new Set<string>();
    const names = (path: string) => ['{id}', path.includes('/shares/') ? '{shareId}' : '{versionId}'];
    const connection: ConnectionOptions = {
      baseUrl: service.url,
      fetch(request) {
        let i = 0;
        const { pathname } = new URL(request.url);
        const path = pathname
          .replace('nobodys.example', '{domain}')
          .replace(/[0-9a-f]{8}-[0-9a-f-]{27}|0{64}/g, () => names(pathname)[i++]!);
        asked.add(`${request.method} ${path}`);
        return fetch(request);
      },
    };
    const credentials = { email: `${randomUUID()}@example.com`, password: PASSWORD };
    await dataOf(createApi(connection).POST('/auth/register', { body: credentials }));
    const account = await signIn(connection, credentials);
    const environment = { MONGODB_URI: service.mongodbUri };
    await runCommand(['accounts', 'set-plan', credentials.email, 'professional'], { environment });
    while ((await dataOf(account.GET('/auth/me'))).plan !== 'professional') await sleep(100);

    await reachKeys(account);
    await reachBilling(account);
    await reachNotifications(account);
    await reachWebhooks(account);
    await reachTemplates(account);

    const period = { params: { query: { period: '30d', includeBreakdown: true } } } as const;
    assert.deepEqual((await dataOf(account.GET('/user/usage', period))).keyBreakdown, []);
    assert.equal((await dataOf(account.GET('/user/request-logs'))).canRevealIp, true);
    assert.equal((await dataOf(account.GET('/user/batches/metrics'))).activeBatches, 0);
    const { entries } = await dataOf(account.GET('/user/audit-log'));
    assert.equal(entries[0]?.action, 'template.deleted');
    await reachRenders(account);
    await reachLog(account);
    await reachBatches(account);
    await reachSessions(account);
    assert.equal((await dataOf(account.GET('/user/plans'))).current, 'professional');
    assert.equal((await dataOf(account.GET('/user/usage/series'))).points.length, 8);
    await dataOf(account.DELETE('/auth/session'));
    const last = await signIn(connection, credentials);
    await dataOf(last.POST('/auth/logout'));

    const document = (await (await fetch(`${service.url}/openapi.json`)).json()) as {
      paths: Record<string, object>;
    };
    const there = Object.entries(document.paths)
      .filter(([path]) => /^\/(auth|user)\//.test(path))
      .flatMap(([path, operations]) =>
        Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`),
      );
    // An answer that never ends is for an EventSource: the typed routes read answers whole.
    const whole = there.filter((operation) => operation !== 'GET /user/events');
    assert.deepEqual([...asked].sort(), whole.sort());
  });

  // Last, since it takes the service away from under everybody.
  it('comes through a service that is killed and started again, with one job for each call', async () => {
    const own = await service.newTenant('business');
    const { statuses, fetch } = watched();
    const patient = clientOf(own, { fetch, retry: { firstMs: 200, longestMs: 1000 } });
    const inputs = ['<p>one</p>', '<p>two</p>', '<p>three</p>'].map((html) => ({
      html,
      options: { delayMs: 1500 },
    }));
    const calls = inputs.map((input) => patient.render(input));
    await sleep(500);
    const standalone = service.roles.get('standalone')!;
    await standalone.end('SIGKILL');
    await sleep(1000);
    await service.restart('standalone');
    const pdfs = await Promise.all(calls);
    assert.ok(statuses.includes('none'), statuses.join());
    for (const [index, mark] of [/one/, /two/, /three/].entries()) {
      assert.match((await readPdf(pdfs[index]!.bytes)).text, mark);
    }
    assert.equal((await own.client.call('GET', '/v1/pdf/jobs')).json.total, 3);
  });
});

/** A port that nobody listens on. */
async function closedPort(): Promise<{ port: number; close: () => void }> {
  const server: Server = createServer((socket) => socket.destroy());
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as { port: number };
  return { port, close: () => server.close() };
}
