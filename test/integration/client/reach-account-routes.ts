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
  const zip = { params: { query: { ids: jobId } }, parseAs: 'arrayBuffer' } as const;
  const zipped = Buffer.from((await account.GET('/user/renders/zip', zip)).data as unknown as ArrayBuffer);
  assert.equal(zipped.toString('latin1', 0, 2), 'PK');
  const { url } = await dataOf(account.POST('/user/renders/{id}/share', { ...one, body: {} }));
  assert.match(url, /\/v1\/files\//);
  assert.equal((await dataOf(account.GET('/user/renders/{id}/report', one))).jobId, jobId);
  const { links } = await dataOf(account.GET('/user/renders/{id}/shares', one));
  assert.deepEqual(
    links.map((link) => link.url),
    [url],
  );
  const shared = { params: { path: { id: jobId, shareId: links[0]!.id } } };
  await dataOf(account.DELETE('/user/renders/{id}/shares/{shareId}', shared));
  assert.equal((await fetch(url)).status, 404);
  for (const [refused, code] of [
    [account.GET('/user/renders/{id}/input', one), 'GONE'],
    [account.DELETE('/user/renders/{id}', one), 'JOB_ENDED'],
    [account.POST('/user/renders/{id}/retry', one), 'NOT_RETRYABLE'],
  ] as const) {
    assert.equal((await refused).error?.code, code);
  }
}

/** Calls each route of the request log, once a request is in it. */
export async function reachLog(account: Account): Promise<void> {
  const log = () => dataOf(account.GET('/user/request-logs'));
  while ((await log()).total === 0) await sleep(100);
  const { id } = (await log()).logs[0]!;
  const logged = await dataOf(account.GET('/user/request-logs/{id}', { params: { path: { id } } }));
  assert.match(logged.said!.path, /^\/user\/renders/);
  await dataOf(account.PUT('/user/request-logs/details', { body: { kept: false } }));
  assert.equal((await log()).detailsKept, false);
}

/** Calls each route of batches with none. */
export async function reachBatches(account: Account): Promise<void> {
  assert.equal((await dataOf(account.GET('/user/batches'))).total, 0);
  const items = [
    { id: 'a', html: 'x' },
    { id: 'a', html: 'x' },
  ];
  assert.equal((await account.POST('/user/batches', { body: { items } })).error?.code, 'VALIDATION');
  const upload = { body: 'id\na\n', bodySerializer: String, headers: { 'Content-Type': 'text/csv' } };
  assert.equal((await dataOf(account.POST('/user/batches/uploads', upload))).bytes, 5);
  const nobodys = { params: { path: { id: randomUUID() } } };
  for (const { error } of [
    await account.GET('/user/batches/{id}', nobodys),
    await account.GET('/user/batches/{id}/items', nobodys),
    await account.GET('/user/batches/{id}/zip', nobodys),
    await account.GET('/user/batches/{id}/manifest', nobodys),
    await account.DELETE('/user/batches/{id}', nobodys),
    await account.POST('/user/batches/{id}/retry-failed', nobodys),
    await account.POST('/user/batches/{id}/release', nobodys),
    await account.POST('/user/batches/{id}/pause', nobodys),
    await account.POST('/user/batches/{id}/resume', nobodys),
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
  const [own] = (await dataOf(account.GET('/auth/accounts'))).accounts;
  assert.deepEqual([own?.role, own?.current], ['owner', true]);
  const other = { body: { accountId: own!.id } };
  assert.equal((await account.PATCH('/auth/session', other)).error?.code, 'SESSION_REQUIRED');
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
  for (const { error } of [
    await account.POST('/auth/invitations', { body: { token } }),
    await account.POST('/auth/invitations/accept', { body: { token } }),
  ]) {
    assert.equal(error?.code, 'ORIGIN_NOT_ALLOWED');
  }
  assert.equal((await dataOf(account.GET('/auth/second-factor'))).since, null);
  assert.match((await dataOf(account.POST('/auth/second-factor'))).uri, /^otpauth:/);
  const wrong = { body: { code: 'x'.repeat(6) } };
  assert.equal((await account.POST('/auth/second-factor/confirm', wrong)).error?.code, 'VALIDATION');
  assert.equal((await account.POST('/auth/second-factor/recovery-codes')).error?.code, 'NOT_FOUND');
  assert.equal((await account.DELETE('/auth/second-factor')).error?.code, 'NOT_FOUND');
  await reachPasskeys(account);
  const named = await dataOf(account.PATCH('/user/account', { body: { name: 'Engines' } }));
  assert.equal(named.name, 'Engines');
  const required = { body: { required: true } };
  const refused = await account.PUT('/user/members/second-factor', required);
  assert.equal(refused.error?.code, 'SECOND_FACTOR_REQUIRED');
  await reachMembers(account);
  await reachDomains(account);
  const none = { params: { path: { id: '0'.repeat(64) } } };
  assert.equal((await account.DELETE('/auth/sessions/{id}', none)).error?.code, 'NOT_FOUND');
}

/** Calls each route of mail domains with one that nobody has. */
async function reachDomains(account: Account): Promise<void> {
  const domain = 'nobodys.example';
  const one = { params: { path: { domain } } };
  const body = { domain, issuer: 'https://login.example.com', clientId: 'platen', role: 'viewer' } as const;
  const { proof } = await dataOf(account.POST('/user/domains', { body }));
  assert.equal(proof.name, `_platen.${domain}`);
  const unproven = await account.POST('/user/domains/{domain}/verification', one);
  assert.ok(['DOMAIN_UNPROVEN', 'UNAVAILABLE'].includes(unproven.error?.code ?? ''));
  const change = { ...one, body: { role: 'billing' } as const };
  assert.equal((await dataOf(account.PATCH('/user/domains/{domain}', change))).role, 'billing');
  assert.equal((await dataOf(account.GET('/user/domains'))).domains.length, 1);
  assert.equal((await dataOf(account.DELETE('/user/domains/{domain}', one))).success, true);
  const late = await account.GET('/auth/oidc/callback/{domain}', { ...one, redirect: 'manual' });
  assert.equal(late.response.status, 302);
}

/** Calls each route of passkeys, which only browsers have. */
async function reachPasskeys(account: Account): Promise<void> {
  assert.equal((await account.POST('/auth/passkeys/challenge')).error?.code, 'ORIGIN_NOT_ALLOWED');
  assert.deepEqual((await dataOf(account.GET('/auth/passkeys'))).passkeys, []);
  const { options } = await dataOf(account.POST('/auth/passkeys/registration'));
  assert.match(options.challenge, /^[\w-]{43}$/);
  const credential = { id: 'eA', clientDataJSON: 'e30', attestationObject: 'oA' };
  const made = await account.POST('/auth/passkeys', { body: { name: 'x', credential } });
  assert.equal(made.error?.code, 'PASSKEY_REFUSED');
  const none = { params: { path: { id: '0'.repeat(64) } } };
  const change = { ...none, body: { name: 'x' } };
  assert.equal((await account.PATCH('/auth/passkeys/{id}', change)).error?.code, 'NOT_FOUND');
  assert.equal((await account.DELETE('/auth/passkeys/{id}', none)).error?.code, 'NOT_FOUND');
}

/** Calls each route of members, of whom there is the owner alone. */
async function reachMembers(account: Account): Promise<void> {
  const { members } = await dataOf(account.GET('/user/members'));
  const person = { params: { path: { id: members[0]!.personId } } };
  for (const { error } of [
    await account.PATCH('/user/members/{id}', { ...person, body: { role: 'viewer' } }),
    await account.DELETE('/user/members/{id}', person),
    await account.POST('/user/members/{id}/transfer', person),
    await account.DELETE('/user/membership'),
  ])
    assert.equal(error?.code, 'OWNER_REQUIRED');
  const body = { email: members[0]!.email ?? '', role: 'viewer' } as const;
  const invited = await account.POST('/user/members/invitations', { body });
  assert.ok(['ALREADY_MEMBER', 'ADDRESS_NOT_CONFIRMED'].includes(invited.error?.code ?? ''));
  const none = { params: { path: { id: '0'.repeat(64) } } };
  assert.equal((await account.DELETE('/user/members/invitations/{id}', none)).error?.code, 'NOT_FOUND');
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
  const draft = { name: 'note', content: '<p>{{ a }}!</p>', sampleData: '{"a":1}' };
  await dataOf(account.PUT('/user/templates/{id}/draft', { ...one, body: draft }));
  assert.equal((await dataOf(account.GET('/user/templates/{id}/draft', one))).draft?.content, draft.content);
  await dataOf(account.DELETE('/user/templates/{id}/draft', one));
  await dataOf(
    account.PUT('/user/templates/{id}/draft', { ...one, body: { ...draft, content: '<p>{{ a }}</p>' } }),
  );
  await dataOf(account.POST('/user/templates/{id}/draft/publish', { ...one, body: { message: 'again' } }));
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
  const failed = { body: { since: '2026-01-01T00:00:00Z' } };
  const none = await dataOf(account.POST('/user/webhook-deliveries/redeliver-failed', failed));
  assert.deepEqual(none, { redelivered: 0, nextSince: null });
  const inside = { body: { url: 'https://10.0.0.1/' } };
  const blocked = await account.POST('/user/webhook-deliveries/test', inside);
  assert.equal(blocked.error?.code, 'URL_BLOCKED');
  const missing = await account.GET('/user/webhook-deliveries/{id}', nowhere);
  assert.equal(missing.error?.code, 'NOT_FOUND');
}

/** Calls each route of alerts and notifications. */
export async function reachNotifications(account: Account): Promise<void> {
  assert.deepEqual((await dataOf(account.GET('/user/alerts'))).webhooks, []);
  assert.equal((await dataOf(account.GET('/user/notifications'))).mails.length, 4);
  const quota = await dataOf(account.PATCH('/user/notifications', { body: { quota: false } }));
  assert.equal(quota.mails[0]!.on, false);
  const body = { failurePercent: 30 };
  const changed = await dataOf(account.PATCH('/user/notifications/thresholds', { body }));
  assert.equal(changed.thresholds.failurePercent, 30);
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
