import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type createApi, dataOf } from '../../../clients/typescript/src/index.ts';
import { PASSWORD } from '../../support/account-client.ts';
import { readPdf } from '../../support/pdf.ts';

type Account = ReturnType<typeof createApi>;

/** Calls each route of renders with one that has completed. */
export async function reachRenders(account: Account): Promise<void> {
  const { jobId } = await dataOf(account.POST('/user/renders', { body: { html: '<p>x</p>' } }));
  const one = { params: { path: { id: jobId } } };
  const render = () => dataOf(account.GET('/user/renders/{id}', one));
  while ((await render()).status !== 'completed') await sleep(100);
  assert.deepEqual(
    (await render()).attempts.map(({ outcome }) => outcome),
    ['completed'],
  );
  assert.equal((await dataOf(account.GET('/user/renders'))).total, 1);
  assert.equal((await dataOf(account.GET('/user/queue'))).waiting, 0);
  const { data } = await account.GET('/user/renders/{id}/file', { ...one, parseAs: 'arrayBuffer' });
  assert.equal((await readPdf(new Uint8Array(data as ArrayBuffer))).pages.length, 1);
  const { url } = await dataOf(account.POST('/user/renders/{id}/share', { ...one, body: {} }));
  assert.match(url, /\/v1\/files\//);
  for (const [refused, code] of [
    [account.GET('/user/renders/{id}/report', one), 'NOT_FOUND'],
    [account.GET('/user/renders/{id}/input', one), 'GONE'],
    [account.DELETE('/user/renders/{id}', one), 'JOB_ENDED'],
    [account.POST('/user/renders/{id}/retry', one), 'NOT_RETRYABLE'],
  ] as const) {
    assert.equal((await refused).error?.code, code);
  }
}

/** Calls each route of batches with none. */
export async function reachBatches(account: Account): Promise<void> {
  assert.equal((await dataOf(account.GET('/user/batches'))).total, 0);
  const items = [
    { id: 'a', html: 'x' },
    { id: 'a', html: 'x' },
  ];
  assert.equal((await account.POST('/user/batches', { body: { items } })).error?.code, 'VALIDATION');
  const nobodys = { params: { path: { id: randomUUID() } } };
  for (const { error } of [
    await account.GET('/user/batches/{id}', nobodys),
    await account.GET('/user/batches/{id}/items', nobodys),
    await account.GET('/user/batches/{id}/zip', nobodys),
    await account.GET('/user/batches/{id}/manifest', nobodys),
    await account.DELETE('/user/batches/{id}', nobodys),
    await account.POST('/user/batches/{id}/retry-failed', nobodys),
  ]) {
    assert.equal(error?.code, 'NOT_FOUND');
  }
}

/** They are for pages: what a client can do is to end them. */
export async function reachSessions(account: Account): Promise<void> {
  assert.equal((await dataOf(account.GET('/auth/config'))).registration, 'open');
  assert.equal((await account.GET('/auth/oidc/start')).error?.code, 'NOT_FOUND');
  assert.equal((await account.GET('/auth/oidc/callback')).error?.code, 'NOT_FOUND');
  const body = { email: 'somebody@example.com', password: PASSWORD };
  assert.equal((await account.POST('/auth/session', { body })).error?.code, 'ORIGIN_NOT_ALLOWED');
  assert.equal((await dataOf(account.GET('/auth/sessions'))).total, 0);
  const { email } = body;
  const token = 'x'.repeat(43);
  for (const { error } of [
    await account.POST('/auth/forgot', { body: { email } }),
    await account.POST('/auth/reset', { body: { token, password: PASSWORD } }),
    await account.POST('/auth/email/verify', { body: { token } }),
  ]) {
    assert.equal(error?.code, 'ORIGIN_NOT_ALLOWED');
  }
  const passwords = { currentPassword: 'not this one', newPassword: PASSWORD };
  assert.equal((await account.POST('/auth/password', { body: passwords })).error?.code, 'WRONG_PASSWORD');
  assert.equal((await dataOf(account.POST('/auth/email/verification'))).success, true);
  const none = { params: { path: { id: '0'.repeat(64) } } };
  assert.equal((await account.DELETE('/auth/sessions/{id}', none)).error?.code, 'NOT_FOUND');
}

/** Calls each route of keys with two that end revoked. */
export async function reachKeys(account: Account): Promise<void> {
  const made = await dataOf(account.POST('/user/api-keys', { body: { name: 'mine', mode: 'test' } }));
  const ofKey = (id: string) => ({ params: { path: { id } } });
  const { id, apiKey } = await dataOf(account.POST('/user/api-keys/{id}/rotate', ofKey(made.id)));
  assert.match(apiKey, /^sk_test_/);
  await dataOf(account.PATCH('/user/api-keys/{id}', { ...ofKey(id), body: { name: 'renamed' } }));
  await dataOf(account.DELETE('/user/api-keys/{id}', ofKey(id)));
  const query = { status: 'revoked', sort: 'created_asc', limit: 10 } as const;
  const { keys } = await dataOf(account.GET('/user/api-keys', { params: { query } }));
  assert.deepEqual(
    keys.map((key) => key.id),
    [made.id, id],
  );
}

/** Calls each route of templates with one, and deletes it. */
export async function reachTemplates(account: Account): Promise<void> {
  const first = await dataOf(
    account.POST('/user/templates', {
      body: { name: 'note', content: '<p>{{ a }}</p>', sampleData: '{"a":1}' },
    }),
  );
  const one = { params: { path: { id: first.id } } };
  await dataOf(account.PATCH('/user/templates/{id}', { ...one, body: { content: '<p>new</p>' } }));
  const { versions } = await dataOf(account.GET('/user/templates/{id}/versions', one));
  assert.deepEqual(
    versions.map(({ version }) => version),
    [2, 1],
  );
  const version = { params: { path: { id: first.id, versionId: first.versionId } } };
  const old = await dataOf(account.GET('/user/templates/{id}/versions/{versionId}', version));
  assert.equal(old.content, first.content);
  await dataOf(account.POST('/user/templates/{id}/versions/{versionId}/rollback', version));
  assert.equal((await dataOf(account.GET('/user/templates/{id}', one))).version, 3);
  const preview = await dataOf(account.POST('/user/templates/preview', { body: { templateId: first.id } }));
  assert.deepEqual(preview, { html: '<p>1</p>' });
  assert.equal((await dataOf(account.GET('/user/templates'))).total, 1);
  await dataOf(account.DELETE('/user/templates/{id}', one));
}

/** Calls each route of webhooks with none to deliver. */
export async function reachWebhooks(account: Account): Promise<void> {
  const keyBefore = (await dataOf(account.GET('/user/webhook-keys'))).keys[0]?.id;
  const { id: keyNow, secret } = await dataOf(account.POST('/user/webhook-keys/rotate'));
  assert.match(secret, /^whsec_/);
  assert.notEqual(keyNow, keyBefore);
  assert.equal((await dataOf(account.GET('/user/webhook-deliveries'))).total, 0);
  const nowhere = { params: { path: { id: randomUUID() } } };
  const again = await account.POST('/user/webhook-deliveries/{id}/redeliver', nowhere);
  assert.equal(again.error?.code, 'NOT_FOUND');
  const inside = { body: { url: 'https://10.0.0.1/' } };
  const blocked = await account.POST('/user/webhook-deliveries/test', inside);
  assert.equal(blocked.error?.code, 'URL_BLOCKED');
  const missing = await account.GET('/user/webhook-deliveries/{id}', nowhere);
  assert.equal(missing.error?.code, 'NOT_FOUND');
}

/** Calls each route of billing where nothing is sold. */
export async function reachBilling(account: Account): Promise<void> {
  assert.equal((await dataOf(account.GET('/user/subscription'))).plan, 'professional');
  assert.equal((await dataOf(account.GET('/user/invoices'))).total, 0);
  assert.equal((await dataOf(account.GET('/user/bill'))).nextInvoice, null);
  const unsold = await Promise.all([
    account.POST('/user/subscription/cancel'),
    account.POST('/user/subscription/resume'),
    account.GET('/user/subscription/upgrade-preview', { params: { query: { plan: 'business' } } }),
    account.POST('/user/checkout', { body: { plan: 'business' } }),
    account.POST('/user/subscription/auto-overage', { body: { enabled: true } }),
    account.POST('/user/overage', { body: { blockSize: 1000 } }),
    account.GET('/user/overage'),
    account.GET('/user/billing-portal'),
  ]);
  for (const { error } of unsold) assert.equal(error?.code, 'BILLING_NOT_CONFIGURED');
}
