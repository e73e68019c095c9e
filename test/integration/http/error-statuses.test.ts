import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { ERRORS, type ErrorCode, PlatenError } from '../../../src/errors/registry.ts';
import { eventually } from '../../support/eventually.ts';
import type { Answer } from '../../support/send.ts';
import { callApi, openApi, type TestApi, type TestCaller } from './support/api.ts';
import { latch } from './support/test-worker.ts';

const BODY = { html: '<p>x</p>' };
const ASYNC = { ...BODY, executionMode: 'async' };
const HOUR_MS = 3_600_000;
const NOWHERE = '00000000-0000-4000-8000-000000000000';

/** How each code comes about, by what a caller does and what happens to its job. */
const PRODUCED: Partial<Record<ErrorCode, (api: TestApi, caller: TestCaller) => Promise<Answer>>> = {
  VALIDATION: (_, caller) => caller.render({ html: '<p>x</p>', url: 'https://example.com' }),
  MALFORMED_JSON: (_, caller) => caller.render('{'),
  UNSUPPORTED_MEDIA_TYPE: (_, caller) => caller.render('<p>x</p>', { 'content-type': 'text/html' }),
  UNAUTHENTICATED: (api) => callApi(api.url, 'GET', '/v1/pdf/jobs'),
  BILLING_NOT_CONFIGURED: (api) => callApi(api.url, 'POST', '/webhooks/payments', {}),
  ADDRESS_NOT_ALLOWED: async (api) => (await api.newCaller({ allowedIps: ['203.0.113.1'] })).render(BODY),
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
    const order = {
      items: [
        { id: 'a', ...BODY },
        { id: 'b', ...BODY },
      ],
      expiresInHours: 1,
    };
    const path = `/v1/pdf/batch/${(await caller.post('/v1/pdf/batch', order)).json.jobId}`;
    await eventually('it has ended', async () => (await caller.get(path)).json.finishedAt !== null);
    api.domain.clock.pass(HOUR_MS);
    const answer = await caller.get(`${path}/a`);
    api.domain.clock.pass(-HOUR_MS);
    return answer;
  },
  RANGE_NOT_SATISFIABLE: async (_, caller) => {
    const order = { items: ['a', 'b'].map((id) => ({ id, ...BODY })) };
    const path = `/v1/pdf/batch/${(await caller.post('/v1/pdf/batch', order)).json.jobId}`;
    await eventually('it has ended', async () => (await caller.get(path)).json.finishedAt !== null);
    return caller.call('GET', `${path}/zip`, undefined, { range: 'bytes=999999999-' });
  },
  BATCH_TOO_LARGE: (_, caller) => {
    const items = Array.from({ length: 251 }, (_, i) => ({ id: `${i}`, html: 'x' }));
    return caller.post('/v1/pdf/batch', { items });
  },
  INPUT_TOO_LARGE: (_, caller) => caller.render({ html: 'x'.repeat(70_000) }),
  RATE_LIMITED: async (_, caller) => {
    let answer = await caller.render({});
    while (answer.status === 400) answer = await caller.render({});
    return answer;
  },
  TOO_MANY_WAITING: async (api, caller) => {
    const gate = latch();
    api.worker.render = async () => {
      await gate.opened;
      return { pages: 1 };
    };
    // One runs, two wait.
    for (let i = 0; i < 3; i += 1) await caller.render(ASYNC);
    const answer = await caller.render(ASYNC);
    gate.open();
    return answer;
  },
  INTERNAL: (_, caller) => failing(_, caller, 'INTERNAL'),
  UNAVAILABLE: (api, caller) => {
    api.state.refusal = new PlatenError('UNAVAILABLE', undefined, { retryAfterSeconds: 2 });
    return caller.render(BODY);
  },
  CANCELLED: async (api, caller) => {
    const claimed = latch();
    const gate = latch();
    let jobId = '';
    api.worker.render = async (job) => {
      // Others may be left that had to wait in a case before.
      if (job.accountId === caller.accountId) {
        jobId = job._id;
        claimed.open();
        await gate.opened;
      }
      return { pages: 1 };
    };
    const answer = caller.render(BODY);
    await claimed.opened;
    await caller.call('DELETE', `/v1/pdf/jobs/${jobId}`);
    gate.open();
    return answer;
  },
};
const OF_JOBS = [
  'INVALID_URL',
  'URL_BLOCKED',
  'URL_UNREACHABLE',
  'SELECTOR_TIMEOUT',
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

/** Never the end of a request, or shown where accounts (signing in, keys, templates, what is kept) and uploads are tested. */
const ELSEWHERE: readonly ErrorCode[] = [
  'RETRY_SCHEDULED',
  'KEY_CAPACITY',
  'TEMPLATE_CAPACITY',
  'TOO_MANY_FAILURES',
  'STORAGE_FULL',
  'TEST_QUOTA_EXCEEDED',
  'UPLOAD_TOO_SLOW',
  'TOO_MANY_UPLOADS',
  'REGISTRATION_CLOSED',
  'INVITATION_INVALID',
  'TOO_MANY_REGISTRATIONS',
  // Shown where billing is tested.
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
      maxInputSizeBytes: 65_536,
      monthlyRenders: 4,
      requestsPerMinute: 12,
    };
    api = await openApi({ plan: { ...plan, concurrentRenders: 1, maxWaitingJobs: 2 } });
  });
  after(() => api.close());
  beforeEach(() => {
    api.state.refusal = undefined;
    api.worker.render = async () => ({ pages: 1 });
  });

  for (const [code, produce] of Object.entries(PRODUCED) as [
    ErrorCode,
    NonNullable<(typeof PRODUCED)[ErrorCode]>,
  ][]) {
    const { status } = ERRORS[code];
    it(`${status} ${code}`, async () => {
      const answer = await produce(api, await api.newCaller());
      assert.equal(answer.status, status);
      const { json } = answer;
      assert.equal(json.statusCode, status);
      assert.equal(json.code, code);
      assert.equal(typeof json.error, 'string');
      assert.ok(typeof json.message === 'string' || Array.isArray(json.message));
      assert.doesNotMatch(JSON.stringify(json), /node:internal|\.ts:\d|at async/);
      const wait = answer.headers.get('retry-after');
      if (NAMES_A_WAIT.includes(code))
        assert.ok(Number(wait) >= 1 && Number(wait) <= 60, `Retry-After: ${wait}`);
    });
  }

  it('none is left out, and with them every status of the contract is shown', () => {
    const shown = Object.keys(PRODUCED) as ErrorCode[];
    const missing = (Object.keys(ERRORS) as ErrorCode[]).filter(
      (code) => !shown.includes(code) && !ELSEWHERE.includes(code),
    );
    assert.deepEqual(missing, []);
    const statuses: number[] = shown.map((code) => ERRORS[code].status);
    for (const status of CONTRACT) assert.ok(statuses.includes(status), String(status));
  });
});

async function failing(api: TestApi, caller: TestCaller, code: ErrorCode): Promise<Answer> {
  api.worker.render = async () => ({ fails: new PlatenError(code) });
  return caller.render(BODY);
}
