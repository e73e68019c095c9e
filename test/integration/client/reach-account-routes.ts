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
