import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Validator } from '@seriousme/openapi-schema-validator';
import { pino } from 'pino';
import { createOpsApp } from '../../../src/http/ops-app.ts';
import { REMEDIES } from '../../../src/infra/errors/remedies.ts';
import { BUILD } from '../../../src/infra/version.ts';
import { createMetrics } from '../../../src/roles/metrics.ts';
import { eventually } from '../../support/eventually.ts';
import { callApi, type TestCaller, useApi } from './support/api.ts';

describe('The service', () => {
  const api = useApi();
  let caller: TestCaller;

  before(async () => {
    caller = await api.newCaller();
  });

  const get = (path: string, headers?: Record<string, string>) =>
    callApi(api.url, 'GET', path, undefined, headers);

  it('reports its health: 200 while it makes progress, otherwise 503 with the reason', async () => {
    assert.deepEqual((await get('/healthz')).json, { live: true });
    api.state.stuck = 'worker: stuck';
    const response = await get('/healthz');
    api.state.stuck = undefined;
    assert.equal(response.status, 503);
    assert.deepEqual(response.json, { live: false, problem: 'worker: stuck' });
  });

  it('reports its readiness, and names what is missing', async () => {
    assert.deepEqual((await get('/readyz')).json, { ready: true, problems: [] });
    api.state.problems = ['database: away', 'bus: away'];
    const response = await get('/readyz');
    api.state.problems = [];
    assert.equal(response.status, 503);
    assert.deepEqual(response.json, { ready: false, problems: ['database: away', 'bus: away'] });
  });

  it('reports which build it is, to operators, in the response and in the metrics', async () => {
    assert.deepEqual((await get('/version')).json, { ...BUILD });
    const text = Buffer.from((await get('/metrics')).bytes).toString();
    const line = `platen_build_info{version="${BUILD.version}",commit="${BUILD.commit}",node="${BUILD.node}",role="api"} 1`;
    assert.ok(text.split('\n').includes(line), text.slice(0, 500));
  });

  it('measures requests by the pattern of their route, never by path', async () => {
    const jobId = await caller.completed();
    await caller.get(`/v1/pdf/jobs/${jobId}`);
    await get('/v1/files/secret-token');
    await get('/wp-admin/setup.php');
    let text = '';
    // A request is counted after its response, which the caller may have received before.
    await eventually('the last one is counted', async () => {
      text = Buffer.from((await get('/metrics')).bytes).toString();
      return /platen_http_requests_total\{method="GET",route="none",status="404"/.test(text);
    });
    assert.match(
      text,
      /platen_http_requests_total\{method="POST",route="\/v1\/pdf",status="200",role="api"\} [1-9]/,
    );
    assert.match(text, /platen_http_requests_total\{method="GET",route="\/v1\/pdf\/jobs\/:id",status="200"/);
    assert.match(text, /platen_http_requests_total\{method="GET",route="\/v1\/files\/:token",status="404"/);
    assert.match(text, /platen_http_requests_total\{method="GET",route="none",status="404"/);
    assert.match(
      text,
      /platen_http_request_duration_seconds_count\{[^}]*method="POST",route="\/v1\/pdf"\} [1-9]/,
    );
    for (const secret of [jobId, 'secret-token', 'wp-admin']) assert.ok(!text.includes(secret), secret);
  });

  it('logs each request once, without secrets, tokens and documents', async () => {
    const requestId = 'log-test-1';
    const response = await caller.render(
      { html: '<p>top secret</p>', output: 'url', options: { assetHeaders: { Authorization: 'hush' } } },
      { 'x-request-id': requestId },
    );
    const { pathname } = new URL(response.json.url);
    await get(pathname);
    await eventually('both are logged', () => api.log.some((line) => line.includes('"/v1/files/:token"')));
    const lines = api.log.filter((line) => line.includes(requestId));
    assert.equal(lines.length, 1);
    const line = JSON.parse(lines[0]!);
    const { method, route, status, ms, accountId, jobId } = line;
    assert.deepEqual(
      { method, route, status, accountId },
      { method: 'POST', route: '/v1/pdf', status: 200, accountId: caller.accountId },
    );
    assert.ok(ms > 0 && ms < 10_000);
    assert.equal((await caller.get(`/v1/pdf/jobs/${jobId}`)).status, 200);
    const log = api.log.join('');
    assert.ok(log.includes('"route":"/v1/files/:token"'));
    for (const secret of [caller.secret, 'top secret', 'hush', pathname.split('/').at(-1)!]) {
      assert.ok(!log.includes(secret));
    }
  });

  describe('X-Request-Id', () => {
    it('is generated when absent, and included in the body of an error', async () => {
      const response = await get('/nothing');
      assert.match(response.headers.get('x-request-id')!, /^[\da-f-]{36}$/);
      assert.equal(response.json.requestId, response.headers.get('x-request-id'));
    });

    it('is kept when it is valid', async () => {
      assert.equal(
        (await get('/healthz', { 'x-request-id': 'a-b_c/1' })).headers.get('x-request-id'),
        'a-b_c/1',
      );
    });

    for (const id of ['x'.repeat(129), 'a b', 'é']) {
      it(`is replaced when it is ${id.slice(0, 8)}`, async () => {
        const response = await get('/healthz', { 'x-request-id': Buffer.from(id).toString('latin1') });
        assert.match(response.headers.get('x-request-id')!, /^[\da-f-]{36}$/);
      });
    }
  });

  it('sends data with headers that prevent scripts and caching', async () => {
    for (const path of ['/healthz', '/nothing', '/v1/pdf/jobs']) {
      const { headers } = await get(path);
      assert.equal(headers.get('content-security-policy'), "default-src 'none';frame-ancestors 'none'");
      assert.equal(headers.get('x-content-type-options'), 'nosniff');
      assert.equal(headers.get('cache-control'), 'no-store');
      assert.equal(headers.get('x-powered-by'), null);
    }
  });

  it('sends errors with a remedy and a link to its documentation at the public address, whatever the Host header', async () => {
    const { json } = await get('/v1/none', { host: 'evil.example', 'x-forwarded-host': 'evil.example' });
    assert.equal(json.remedy, REMEDIES.NOT_FOUND);
    assert.equal(json.docsUrl, `${api.url}/docs/errors#NOT_FOUND`);
  });

  describe('The API document', () => {
    it('is valid OpenAPI 3.1', async () => {
      const document = (await get('/openapi.json')).json;
      const validator = new Validator();
      const result = await validator.validate(document);
      assert.ok(result.valid, JSON.stringify(result));
      assert.equal(validator.version, '3.1');
    });

    it('describes the parameters and responses of every route', async () => {
      const { paths, components } = (await get('/openapi.json')).json;
      const ofAccounts = /^\/(auth|user)\//;
      const rest = Object.keys(paths).filter((path) => !ofAccounts.test(path));
      assert.deepEqual(rest.toSorted(), [
        '/docs',
        '/docs/api/try',
        '/healthz',
        '/metrics',
        '/openapi.json',
        '/public/auto-overage/disable',
        '/public/notifications/unsubscribe',
        '/readyz',
        '/v1/files/{token}',
        '/v1/files/{token}/manifest',
        '/v1/pdf',
        '/v1/pdf/batch',
        '/v1/pdf/batch/uploads',
        '/v1/pdf/batch/{id}',
        '/v1/pdf/batch/{id}/events',
        '/v1/pdf/batch/{id}/items/{itemId}/download-url',
        '/v1/pdf/batch/{id}/manifest/download-url',
        '/v1/pdf/batch/{id}/parts',
        '/v1/pdf/batch/{id}/pause',
        '/v1/pdf/batch/{id}/pdf',
        '/v1/pdf/batch/{id}/release',
        '/v1/pdf/batch/{id}/resume',
        '/v1/pdf/batch/{id}/zip',
        '/v1/pdf/batch/{id}/{itemId}',
        '/v1/pdf/convert',
        '/v1/pdf/fill',
        '/v1/pdf/flatten',
        '/v1/pdf/jobs',
        '/v1/pdf/jobs/{id}',
        '/v1/pdf/jobs/{id}/download-url',
        '/v1/pdf/jobs/{id}/einvoice',
        '/v1/pdf/jobs/{id}/file',
        '/v1/pdf/jobs/{id}/report',
        '/v1/pdf/validate',
        '/version',
        '/webhooks/payments',
      ]);
      assert.deepEqual(paths['/user/api-keys'].get.security, [{ bearer: [] }]);
      assert.deepEqual(paths['/auth/login'].post.security, []);
      const [, breakdown] = paths['/user/usage'].get.parameters;
      assert.deepEqual([breakdown.name, breakdown.schema.type], ['includeBreakdown', 'boolean']);
      const { post } = paths['/v1/pdf'];
      assert.deepEqual(post.security, [{ apiKey: [] }]);
      assert.equal(
        post.requestBody.content['application/json'].schema.$ref,
        '#/components/schemas/RenderRequest',
      );
      assert.deepEqual(Object.keys(post.responses[200].content), ['application/pdf']);
      assert.equal(components.schemas.RenderOptions.properties.scale.maximum, 2);
      assert.deepEqual(
        paths['/v1/pdf/jobs'].get.parameters.map(({ name }: { name: string }) => name),
        ['status', 'limit', 'offset', 'sort'],
      );
    });

    it('names the headers of responses, also of errors, and a 503 for each route that uses the database', async () => {
      const { paths, components } = (await get('/openapi.json')).json;
      const { responses } = paths['/v1/pdf'].post;
      const named = (status: number) => {
        const { $ref = '' } = responses[status];
        const shared = components.responses[$ref.split('/').at(-1)];
        return Object.keys((shared ?? responses[status]).headers).sort();
      };
      const rates = ['RateLimit', 'RateLimit-Policy'];
      assert.deepEqual(named(404), rates);
      assert.deepEqual(named(401), ['WWW-Authenticate']);
      for (const status of [409, 429, 503])
        assert.deepEqual(named(status), [...rates, 'Retry-After'], String(status));
      assert.ok(named(200).includes('Idempotent-Replayed') && named(202).includes('Idempotent-Replayed'));
      for (const name of rates) assert.equal(typeof components.headers[name].description, 'string');
      // The payment provider gets 400 for every error.
      const without503 = [
        '/auth/config',
        '/docs',
        '/docs/api/try',
        '/openapi.json',
        '/metrics',
        '/version',
        '/webhooks/payments',
      ];
      for (const [path, operations] of Object.entries<Record<string, { responses: object }>>(paths)) {
        for (const [method, operation] of Object.entries(operations)) {
          const expected = !without503.includes(path);
          assert.equal('503' in operation.responses, expected, `${method} ${path}`);
        }
      }
    });

    it('links created resources to the operations on them', async () => {
      const { links } = (await get('/openapi.json')).json.paths['/user/templates'].post.responses[201];
      assert.deepEqual(links.getTemplate.parameters, { id: '$response.body#/id' });
      assert.deepEqual(links.rollBackTemplate, {
        operationId: 'rollBackTemplate',
        parameters: { id: '$response.body#/id', versionId: '$response.body#/versionId' },
      });
    });

    it('has a page that consists of its own files only', async () => {
      const page = await get('/docs/api/try');
      const html = Buffer.from(page.bytes).toString();
      assert.match(page.headers.get('content-security-policy')!, /^default-src 'none'; script-src 'self';/);
      assert.doesNotMatch(html, /https?:|<script>|<style>| on\w+=/);
      const links = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, link]) => link!);
      assert.equal(links.length, 4);
      for (const link of links) {
        const file = await get(link);
        assert.equal(file.status, 200, link);
        assert.ok(file.bytes.byteLength > 100);
      }
    });
  });

  it('serves only health and metrics in roles without an API', async () => {
    const app = createOpsApp({
      metrics: createMetrics('worker'),
      logger: pino({ level: 'silent' }),
      readiness: async () => ({ ready: true, problems: [] }),
      liveness: () => ({ live: true }),
    });
    const server = createServer(app);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    for (const [path, status] of [
      ['/healthz', 200],
      ['/readyz', 200],
      ['/metrics', 200],
      ['/v1/pdf/jobs', 404],
      ['/docs', 404],
    ] as const) {
      assert.equal((await fetch(`${url}${path}`)).status, status, path);
    }
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
});
