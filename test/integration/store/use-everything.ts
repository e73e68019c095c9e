import { randomUUID } from 'node:crypto';
import { PlatenError } from '../../../src/infra/errors/registry.ts';
import { ensureIndexes } from '../../../src/infra/store/collection-spec.ts';
import { PlanMirror } from '../../../src/tenants/plans/plan-mirror.ts';
import { BUILT_IN } from '../../../src/tenants/plans/plan-source.ts';
import type { Job } from '../../../src/work/jobs/job.ts';
import { WorkerRegistry } from '../../../src/work/pools/worker-registry.ts';
import { AccountClient, PASSWORD, signUp } from '../../support/account-client.ts';
import { openBrowser } from '../../support/browser.ts';
import { newJob } from '../../support/domain.ts';
import type { TestApi } from '../http/support/api.ts';
import { useAdmin } from './use-admin.ts';
import { useAlerts } from './use-alerts.ts';
import { useBatches } from './use-batches.ts';
import { useBilling } from './use-billing.ts';
import { useCallbacks } from './use-callbacks.ts';
import { useDeletion } from './use-deletion.ts';
import { useMails } from './use-mails.ts';
import { useDomains, useMembers, usePasskeys } from './use-members.ts';
import { useTakeover } from './use-takeover.ts';

const HTML = { html: '<p>x</p>' };
const DAY_MS = 86_400_000;

/** Every route, and every sweep of what is not a job. */
export async function useEverything(api: TestApi): Promise<void> {
  await renderAndCheck(api);
  await useBatches(api);
  await useCallbacks(api);
  await useMails(api);
  await useAlerts(api);
  await useBilling(api);
  await manageAccount(api);
  await useTakeover(api);
  await mirrorPlans(api);
  await listWorkers(api);
  await useAdmin(api);
  await useDeletion(api);
  await deleteOld(api);
}

async function renderAndCheck(api: TestApi): Promise<void> {
  const caller = await api.newCaller();
  const key = { 'idempotency-key': randomUUID() };
  for (let i = 0; i < 2; i += 1) await caller.render(HTML, key);
  await caller.render({ html: '<p>y</p>' }, key);
  const jobId = await caller.completed();
  for (const path of ['', '/file', '/download-url']) await caller.get(`/v1/pdf/jobs/${jobId}${path}`);
  const { url } = (await caller.get(`/v1/pdf/jobs/${jobId}/download-url`)).json;
  await fetch(url);
  for (const query of ['', '?sort=created_asc', '?status=completed', '?status=queued&offset=1']) {
    await caller.get(`/v1/pdf/jobs${query}`);
  }
  api.worker.render = async () => ({ retries: new PlatenError('RENDER_FAILED') });
  const retried = (await caller.render(HTML)).json.jobId;
  await caller.call('DELETE', `/v1/pdf/jobs/${retried}`);
  api.worker.render = async () => ({ fails: new PlatenError('RENDER_FAILED') });
  await caller.render(HTML);
  api.worker.render = async () => ({ pages: 1 });
  await caller.render({ templateId: randomUUID() });
  await api.domain.requestLog.flush();
  const { token } = await api.tenants.tokens.issue(caller.accountId);
  const path = '/user/request-logs?status=error&endpoint=/v1/pdf';
  const { logs } = await new AccountClient(api.url, token).expect(200, 'GET', path);
  await new AccountClient(api.url, token).expect(200, 'GET', `${path}&apiKeyId=${logs[0].apiKeyId}`);
}

async function manageAccount(api: TestApi): Promise<void> {
  const email = `${randomUUID()}@example.com`;
  const owner = await signUp(api.url, email);
  const { id: accountId } = await owner.expect(200, 'GET', '/auth/me');
  await api.accounts.setPlan(accountId, 'professional');
  await api.accounts.planNames([accountId]);
  await api.accounts.countWithPlan('professional');
  await api.accounts.list(1, 0);
  await api.accounts.listByShownEmail(email);
  await useMembers(api, accountId);
  // The account goes on signing in with its password alone.
  await usePasskeys(api, randomUUID());
  await useDomains(api, accountId);
  for (const password of ['not the password', PASSWORD]) {
    await fetch(`${api.url}/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email, password }),
    });
  }
  let key = await owner.expect(201, 'POST', '/user/api-keys', { name: 'a', mode: 'live', allowedIps: [] });
  // So often that the first ones are forgotten.
  for (let i = 0; i < 12; i += 1) key = await owner.expect(200, 'POST', `/user/api-keys/${key.id}/rotate`);
  for (const sort of [
    'last_used_desc',
    'last_used_asc',
    'created_desc',
    'created_asc',
    'name_asc',
    'name_desc',
  ]) {
    await owner.expect(200, 'GET', `/user/api-keys?sort=${sort}`);
  }
  const [first] = (await owner.expect(200, 'GET', '/user/api-keys?status=active&mode=live')).keys;
  await owner.expect(200, 'PATCH', `/user/api-keys/${first.id}`, { name: 'b' });
  await owner.expect(200, 'DELETE', `/user/api-keys/${first.id}`);
  const template = { name: 't', content: '<p>{{a}}</p>', sampleData: '{"a":1}' };
  const { id, versionId } = await owner.expect(201, 'POST', '/user/templates', template);
  await owner.expect(200, 'PATCH', `/user/templates/${id}`, { content: '<p>{{a}}!</p>' });
  for (const path of ['', `/${id}`, `/${id}/versions`, `/${id}/versions/${versionId}`]) {
    await owner.expect(200, 'GET', `/user/templates${path}`);
  }
  await owner.call('POST', `/user/templates/${id}/versions/${versionId}/rollback`);
  for (const content of ['1', '2']) {
    await owner.expect(200, 'PUT', `/user/templates/${id}/draft`, { name: 't', content });
  }
  await owner.expect(200, 'GET', `/user/templates/${id}/draft`);
  await owner.expect(200, 'POST', `/user/templates/${id}/draft/publish`, { message: 'x' });
  await owner.expect(200, 'DELETE', `/user/templates/${id}/draft`);
  const caller = await api.newCaller();
  await caller.render({ templateId: id, templateVersionId: versionId });
  await owner.call('DELETE', `/user/templates/${id}`);
  // More than a search reads at once.
  const ended: Partial<Job> = {
    state: 'completed',
    expiresAt: new Date(Date.now() + DAY_MS),
    apiKeyId: caller.apiKeyId,
  };
  const many = Array.from({ length: 501 }, () => newJob(caller.accountId, ended).job);
  await api.domain.connection.collection<Job>('job_history').insertMany(many);
  const { token } = await api.tenants.tokens.issue(caller.accountId);
  await new AccountClient(api.url, token).expect(200, 'GET', '/user/renders?search=t');
  const { jobId: rendered } = await owner.expect(202, 'POST', '/user/renders', { html: '<p>x</p>' });
  for (const path of ['', '/input', '/file']) await owner.get(`/user/renders/${rendered}${path}`);
  await owner.call('DELETE', `/user/renders/${rendered}`);
  await owner.call('POST', `/user/renders/${rendered}/retry`);
  for (const query of [
    '',
    '?status=queued&mode=test',
    '?from=2026-01-01T00:00:00Z&sort=created_asc',
    '?search=t',
    '?error=INTERNAL&sort=duration_desc&minMs=1',
  ])
    await owner.expect(200, 'GET', `/user/renders${query}`);
  await owner.call('GET', `/user/renders/zip?ids=${rendered}`);
  await owner.get('/user/queue');
  await owner.expect(200, 'GET', '/user/templates?view=summary');
  await owner.expect(200, 'GET', '/user/templates?view=summary&search=t');
  for (const query of ['', '?interval=hour&period=1d'])
    await owner.expect(200, 'GET', `/user/usage/series${query}`);
  for (const query of ['', '?mode=live&status=completed'])
    await owner.expect(200, 'GET', `/user/batches${query}`);
  await owner.get('/user/audit-log');
  await owner.get('/user/audit-log?action=key.created');
  for (const query of ['', '?includeBreakdown=true&period=90d']) await owner.get(`/user/usage${query}`);
  for (const query of ['', `?sort=created_asc&apiKeyId=${first.id}`])
    await owner.get(`/user/request-logs${query}`);
  await owner.call('POST', '/auth/logout');
  const browser = await openBrowser(api.url, email);
  await browser.expect(202, 'POST', '/auth/forgot', { email });
  await api.tenants.recovery.flush();
  await browser.expect(403, 'POST', '/auth/reset', { token: 'x'.repeat(43), password: PASSWORD });
  api.domain.clock.pass(DAY_MS / 24);
  const [session] = (await browser.expect(200, 'GET', '/auth/sessions')).sessions;
  await browser.expect(200, 'DELETE', `/auth/sessions/${session.id}`);
}

async function deleteOld({ domain, tenants, outputs }: TestApi): Promise<void> {
  await domain.requestLog.flush();
  for (const days of [0, 1, 100]) {
    const now = new Date(Date.now() + days * DAY_MS);
    await domain.requestLog.deleteOld(now);
    await domain.counters.deleteOld(now);
    await tenants.limiter.deleteExpired(now);
    await domain.idempotency.deleteExpired(now);
    await tenants.deleteExpired(now);
    await outputs.deleteExpired(now);
  }
}

async function mirrorPlans({ domain }: TestApi): Promise<void> {
  const mirror = new PlanMirror(domain.connection);
  for (const slotsPerWorker of [1, 2])
    await mirror.write({ ...BUILT_IN, pools: new Map([['large', { slotsPerWorker }]]) });
  await mirror.revisions();
  await mirror.own();
  await mirror.read();
}

async function listWorkers({ domain }: TestApi): Promise<void> {
  const registry = new WorkerRegistry(domain.connection, domain.clock);
  await ensureIndexes(domain.connection);
  const location = { pool: 'default', pod: null, namespace: null, node: null };
  for (const _id of ['gone', 'here']) {
    await registry.report({
      _id,
      ...location,
      slots: 2,
      busy: 0,
      state: 'claiming',
      startedAt: domain.clock.now(),
      sandbox: 'unknown',
      browser: null,
    });
  }
  const lease = await registry.lanes.take('default', 'here', () => undefined);
  await lease.reads(true);
  await registry.lanes.lanesOf('default');
  await registry.lanes.idleLanesOf('default', 10);
  await lease.release();
  await registry.requestPause(['gone', 'here']);
  await registry.cancelPause(['here']);
  await registry.list('default');
  await registry.slotsOf('default');
  await registry.sealKeysOf('default');
  await registry.list();
  await registry.remove('gone');
  await registry.forgetUnseen(new Date(domain.clock.now().getTime() + DAY_MS));
}
