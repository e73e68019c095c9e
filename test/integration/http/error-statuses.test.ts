import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { ERRORS, type ErrorCode, PlatenError } from '../../../src/infra/errors/registry.ts';
import { openBrowser, SAME_ORIGIN } from '../../support/browser.ts';
import { eventually } from '../../support/eventually.ts';
import type { Reply } from '../../support/send.ts';
import { callApi, openApi, type TestApi, type TestCaller } from './support/api.ts';
import { latch } from './support/test-worker.ts';

const BODY = { html: '<p>x</p>' };
const ASYNC = { ...BODY, executionMode: 'async' };
const HOUR_MS = 3_600_000;
const NOWHERE = '00000000-0000-4000-8000-000000000000';

/** How a caller or its job brings about each code. */
const PRODUCED: Partial<Record<ErrorCode, (api: TestApi, caller: TestCaller) => Promise<Reply>>> = {
  VALIDATION: (_, caller) => caller.render({ html: '<p>x</p>', url: 'https://example.com' }),
  MALFORMED_JSON: (_, caller) => caller.render('{'),
  UNSUPPORTED_MEDIA_TYPE: (_, caller) => caller.render('<p>x</p>', { 'content-type': 'text/plain' }),
  UNAUTHENTICATED: (api) => callApi(api.url, 'GET', '/v1/pdf/jobs'),
  BILLING_NOT_CONFIGURED: (api) => callApi(api.url, 'POST', '/webhooks/payments', {}),
  ADDRESS_NOT_ALLOWED: async (api) => (await api.newCaller({ allowedIps: ['203.0.113.1'] })).render(BODY),
  ORIGIN_NOT_ALLOWED: (api) =>
    callApi(api.url, 'POST', '/auth/session', {}, { origin: 'https://evil.example' }),
  PASSWORD_REQUIRED: async (api) => {
    const browser = await openBrowser(api.url);
    api.domain.clock.pass(HOUR_MS);
    const response = await browser.call('POST', '/user/api-keys', { name: 'a key' });
    api.domain.clock.pass(-HOUR_MS);
    return response;
  },
  LINK_INVALID: (api) =>
    callApi(api.url, 'POST', '/auth/email/verify', { token: 'x'.repeat(43) }, SAME_ORIGIN),
  WRONG_PASSWORD: async (api) => {
    const body = { currentPassword: 'not this one', newPassword: 'another one, long enough' };
    return (await openBrowser(api.url)).call('POST', '/auth/password', body);
  },
  NOT_RETRYABLE: async (api, caller) => {
    const jobId = await caller.completed();
    const { token } = await api.tenants.tokens.issue(caller.accountId);
    const headers = { authorization: `Bearer ${token}` };
    return callApi(api.url, 'POST', `/user/renders/${jobId}/retry`, undefined, headers);
  },
  TEMPLATE_CHANGED: async (api, caller) => {
    const { token } = await api.tenants.tokens.issue(caller.accountId);
    const headers = { authorization: `Bearer ${token}` };
    const template = { name: 'letter', content: '<p>x' };
    const { id } = (await callApi(api.url, 'POST', '/user/templates', template, headers)).json;
    const change = { name: 'note', baseVersionId: NOWHERE };
    return callApi(api.url, 'PATCH', `/user/templates/${id}`, change, headers);
  },
  PLAN_LIMIT: (_, caller) => caller.render({ ...BODY, options: { timeoutMs: 60_001 } }),
  QUOTA_EXCEEDED: async (_, caller) => {
    for (let i = 0; i < 4; i += 1) await caller.render(BODY);
    return caller.render(BODY);
  },
  NOT_FOUND: (_, caller) => caller.get(`/v1/pdf/jobs/${NOWHERE}`),
  METHOD_NOT_ALLOWED: (_, caller) => caller.call('PUT', '/v1/pdf/jobs'),
  JOB_ENDED: async (_, caller) => caller.call('DELETE', `/v1/pdf/jobs/${await caller.completed()}`),
  IDEMPOTENCY_MISMATCH: async (_, caller) => {
    const name = { 'idempotency-key': randomUUID() };
    await caller.render(BODY, name);
    return caller.render({ html: '<p>y</p>' }, name);
  },
  IDEMPOTENCY_IN_PROGRESS: async (api, caller) => {
    const gate = latch();
    const claimed = latch();
    api.worker.render = async () => {
      claimed.open();
      await gate.opened;
      return { pages: 1 };
    };
    const name = { 'idempotency-key': randomUUID() };
    const first = caller.render(BODY, name);
    await claimed.opened;
    const second = await caller.render(BODY, name);
    gate.open();
    await first;
    return second;
  },
  GONE: async (api, caller) => {
    const submission = {
      items: [
        { id: 'a', ...BODY },
        { id: 'b', ...BODY },
      ],
      expiresInHours: 1,
    };
    const path = `/v1/pdf/batch/${(await caller.post('/v1/pdf/batch', submission)).json.jobId}`;
    await eventually('it has ended', async () => (await caller.get(path)).json.finishedAt !== null);
    api.domain.clock.pass(HOUR_MS);
    const response = await caller.get(`${path}/a`);
    api.domain.clock.pass(-HOUR_MS);
    return response;
  },
  NOT_MERGEABLE: async (_, caller) => {
    const options = { protection: { userPassword: 'a secret' } };
    const items = ['a', 'b'].map((id) => ({ id, ...BODY, options }));
    const path = `/v1/pdf/batch/${(await caller.post('/v1/pdf/batch', { items })).json.jobId}`;
    await eventually('it has ended', async () => (await caller.get(path)).json.finishedAt !== null);
    return caller.get(`${path}/pdf`);
  },
  RANGE_NOT_SATISFIABLE: async (_, caller) => {
    const submission = { items: ['a', 'b'].map((id) => ({ id, ...BODY })) };
    const path = `/v1/pdf/batch/${(await caller.post('/v1/pdf/batch', submission)).json.jobId}`;
    await eventually('it has ended', async () => (await caller.get(path)).json.finishedAt !== null);
    return caller.call('GET', `${path}/zip`, undefined, { range: 'bytes=999999999-' });
  },
  WRONG_STATE: async (_, caller) => {
    const items = ['a', 'b'].map((id) => ({ id, ...BODY }));
    const { jobId } = (await caller.post('/v1/pdf/batch', { items })).json;
    return caller.post(`/v1/pdf/batch/${jobId}/pause`, undefined);
  },
  BATCH_TOO_LARGE: (_, caller) => {
    const items = Array.from({ length: 251 }, (_, i) => ({ id: `${i}`, html: 'x' }));
    return caller.post('/v1/pdf/batch', { items });
  },
  INPUT_TOO_LARGE: (_, caller) => caller.render({ html: 'x'.repeat(70_000) }),
  RATE_LIMITED: async (_, caller) => {
    let response = await caller.render({});
    while (response.status === 400) response = await caller.render({});
    return response;
  },
  TOO_MANY_WAITING: async (api, caller) => {
    const gate = latch();
    api.worker.render = async () => {
      await gate.opened;
      return { pages: 1 };
    };
    // One job runs and two wait.
    for (let i = 0; i < 3; i += 1) await caller.render(ASYNC);
    const response = await caller.render(ASYNC);
    gate.open();
    return response;
  },
  INTERNAL: (_, caller) => failing(_, caller, 'INTERNAL'),
  UNAVAILABLE: (api, caller) => {
    api.state.rejection = new PlatenError('UNAVAILABLE', undefined, { retryAfterSeconds: 2 });
    return caller.render(BODY);
  },
  EINVOICE_INVALID: (_, caller) =>
    caller.render({ html: 'x', options: { einvoice: { profile: 'minimum', data: {} } } }),
  CANCELLED: async (api, caller) => {
    const claimed = latch();
    const gate = latch();
    let jobId = '';
    api.worker.render = async (job) => {
      // Waiting jobs of an earlier case may be left.
      if (job.accountId === caller.accountId) {
        jobId = job._id;
        claimed.open();
        await gate.opened;
      }
      return { pages: 1 };
    };
    const response = caller.render(BODY);
    await claimed.opened;
    await caller.call('DELETE', `/v1/pdf/jobs/${jobId}`);
    gate.open();
    return response;
  },
};
const OF_JOBS = [
  'INVALID_URL',
  'URL_BLOCKED',
  'URL_UNREACHABLE',
  'SELECTOR_TIMEOUT',
  'CONDITION_TIMEOUT',
  'EXCEPTION_THROWN',
  'ASSET_FAILED',
  'GLYPH_MISSING',
  'DOCUMENT_FAULT',
  'CONFORMANCE_FAILED',
  'FORM_FIELD_UNKNOWN',
  'FORM_VALUE_INVALID',
  'SEAL_FAILED',
  'TIMESTAMP_FAILED',
  'REVOCATION_FAILED',
  'COOKIE_INVALID',
  'PAGE_RANGE_INVALID',
  'TEMPLATE_ERROR',
  'DOCUMENT_LIMIT',
  'OUTPUT_TOO_LARGE',
  'RENDER_TIMEOUT',
  'BROWSER_CRASHED',
  'WORKER_LOST',
  'RENDER_FAILED',
  'EXPIRED',
] as const satisfies ErrorCode[];
for (const code of OF_JOBS) PRODUCED[code] = (api, caller) => failing(api, caller, code);

/** Codes that never end a request, or that the tests of accounts (sign-in, keys, templates, storage, administration) and uploads cover. */
const ELSEWHERE: readonly ErrorCode[] = [
  'RETRY_SCHEDULED',
  'KEY_CAPACITY',
  'TEMPLATE_CAPACITY',
  'TOO_MANY_FAILURES',
  'STORAGE_FULL',
  'TEST_QUOTA_EXCEEDED',
  'UPLOAD_TOO_SLOW',
  'UPLOAD_FAILED',
  'UPLOAD_URL_EXPIRED',
  'TOO_MANY_UPLOADS',
  'REGISTRATION_CLOSED',
  'INVITATION_INVALID',
  'TOO_MANY_REGISTRATIONS',
  'TOO_MANY_MAILS',
  'CONFIRMATION_UNPROVEN',
  'ADDRESS_NOT_CONFIRMED',
  'ACCOUNT_SUSPENDED',
  // Of batches with a source.
  'SOURCE_UNREADABLE',
  // Those of PDFs that are sent.
  'PDF_INVALID',
  'PDF_ENCRYPTED',
  'PDF_SIGNED',
  // The tests of members cover these.
  'ROLE_NOT_ALLOWED',
  'INVITATION_UNPROVEN',
  'MEMBER_CAPACITY',
  'ALREADY_MEMBER',
  'OWNER_REQUIRED',
  'CODE_REQUIRED',
  'WRONG_CODE',
  'SECOND_FACTOR_REQUIRED',
  'SECOND_FACTOR_SET',
  'PASSKEY_REFUSED',
  'ISSUER_REQUIRED',
  'DOMAIN_UNPROVEN',
  'DOMAIN_CAPACITY',
  'DOMAIN_CLAIMED',
  'DOMAIN_TAKEN',
  'PASSKEY_CAPACITY',
  'SESSION_REQUIRED',
  // The tests of billing cover these.
  'PAYMENT_EVENT_REFUSED',
  'NOT_SUBSCRIBED',
  'NOT_SOLD',
  'PAYMENT_FAILED',
  'OVERAGE_PENDING',
];
/** Every status of the contract's table. 410 is also what batches answer after their retention. */
const CONTRACT = [400, 401, 403, 404, 409, 410, 413, 429, 500, 503];
const NAMES_A_WAIT: readonly ErrorCode[] = [
  'RATE_LIMITED',
  'TOO_MANY_WAITING',
  'UNAVAILABLE',
  'IDEMPOTENCY_IN_PROGRESS',
];

describe('Every error of the registry, over HTTP', () => {
  let api: TestApi;
  before(async () => {
    const plan = {
      maxTimeoutMs: 60_000,
      maxBatchItems: 250,
      maxInputSizeBytes: 65_536,
      monthlyRenders: 4,
      requestsPerMinute: 12,
    };
    api = await openApi({ plan: { ...plan, concurrentRenders: 1, maxWaitingJobs: 2 } });
  });
  after(() => api.close());
  beforeEach(() => {
    api.state.rejection = undefined;
    api.worker.render = async () => ({ pages: 1 });
  });

  for (const [code, produce] of Object.entries(PRODUCED) as [
    ErrorCode,
    NonNullable<(typeof PRODUCED)[ErrorCode]>,
  ][]) {
    const { status } = ERRORS[code];
    it(`has ${code} with ${status}`, async () => {
      const response = await produce(api, await api.newCaller());
      assert.equal(response.status, status);
      const { json } = response;
      assert.equal(json.statusCode, status);
      assert.equal(json.code, code);
      assert.equal(typeof json.error, 'string');
      assert.ok(typeof json.message === 'string' || Array.isArray(json.message));
      assert.doesNotMatch(JSON.stringify(json), /node:internal|\.ts:\d|at async/);
      const wait = response.headers.get('retry-after');
      if (NAMES_A_WAIT.includes(code))
        assert.ok(Number(wait) >= 1 && Number(wait) <= 60, `Retry-After: ${wait}`);
    });
  }

  it('is covered, with every status of the contract', () => {
    const shown = Object.keys(PRODUCED) as ErrorCode[];
    const missing = (Object.keys(ERRORS) as ErrorCode[]).filter(
      (code) => !shown.includes(code) && !ELSEWHERE.includes(code),
    );
    assert.deepEqual(missing, []);
    const statuses: number[] = shown.map((code) => ERRORS[code].status);
    for (const status of CONTRACT) assert.ok(statuses.includes(status), String(status));
  });
});

async function failing(api: TestApi, caller: TestCaller, code: ErrorCode): Promise<Reply> {
  api.worker.render = async () => ({ fails: new PlatenError(code) });
  return caller.render(BODY);
}
