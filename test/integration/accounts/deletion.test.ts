import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { syncSubscription } from '../../../src/billing/subscriptions/entitlement.ts';
import { PlatenError } from '../../../src/infra/errors/registry.ts';
import { declaredCollections } from '../../../src/infra/store/collection-spec.ts';
import { DeletionStore } from '../../../src/tenants/accounts/deletion-store.ts';
import { TakeoverStore } from '../../../src/tenants/accounts/takeover-store.ts';
import { chunkCount } from '../../../src/work/batches/batch.ts';
import { PASSWORD, signUp } from '../../support/account-client.ts';
import { eventually } from '../../support/eventually.ts';
import { mentions as recordsWith } from '../../support/mentions.ts';
import { serveAdmin, type TestAdmin } from '../admin/support/admin.ts';
import { bytesOf, csvOf } from '../batches/sourced.ts';
import { openApi, type TestApi } from '../http/support/api.ts';
import { latch } from '../http/support/test-worker.ts';
import { useDomains, usePasskeys } from '../store/use-members.ts';
import { finishDeletion, openDeletion, QUIET_MS, sweeps } from './support/deletion.ts';
import { FirstPerson } from './support/first-person.ts';
import { newMember } from './support/member.ts';

const MARK = 'of-the-one-to-be-deleted';
const LEASE_MS = 15_000;

describe('An account that an operator deletes', () => {
  let api: TestApi;
  let admin: TestAdmin;

  before(async () => {
    api = await openApi({ trustedProxies: 1 });
    admin = await serveAdmin(api);
  });
  after(async () => {
    await admin.close();
    await api.close();
  });
  afterEach(() => {
    api.worker.render = async () => ({ pages: 1 });
  });

  const remove = (accountId: string, confirm = accountId) =>
    admin.ok('POST', `/admin/api/accounts/${accountId}/delete`, { confirm });

  const listed = async (accountId: string) =>
    (await admin.ok('GET', `/admin/api/accounts?search=${accountId}`)).rows;

  const noted = (accountId: string) =>
    new DeletionStore(api.domain.connection, api.domain.clock).find(accountId);

  /** Something of every kind, with the mark wherever the owner writes something. */
  async function useAll(person: FirstPerson): Promise<void> {
    const { client, browser } = person;
    const url = `https://example.com/${MARK}`;
    await newMember(api, person.accountId, 'viewer');
    const { accountId, email } = person;
    await api.tenants.secondFactors.begin((await api.accounts.findNow(accountId))!);
    await usePasskeys(api, accountId);
    await useDomains(api, accountId);
    await api.tenants.teamInvitations.create({ accountId, email, role: 'viewer' }, 1_000_000);
    const html = `<p>${MARK}</p>`;
    await client.expect(200, 'POST', '/user/webhook-keys/rotate');
    await client.expect(202, 'POST', '/user/webhook-deliveries/test', { url });
    await browser.expect(202, 'POST', '/auth/email/verification');
    const { id } = await client.expect(201, 'POST', '/user/templates', { name: MARK, content: html });
    await client.expect(200, 'PATCH', `/user/templates/${id}`, { content: `${html}2` });
    await client.expect(200, 'PUT', `/user/templates/${id}/draft`, { name: MARK, content: MARK });
    const ids: string[] = [];
    for (const body of [
      { html, executionMode: 'async', webhookUrl: url, uploadUrl: url, options: { report: true } },
      { templateId: id, data: {}, executionMode: 'async', filename: `${MARK}.pdf` },
    ]) {
      const { status, json } = await person.call('POST', '/v1/pdf', body);
      assert.equal(status, 202, JSON.stringify(json));
      ids.push(json.jobId);
    }
    const items = Array.from({ length: 7 }, (_, i) => ({ id: `${MARK}-${i}`, html }));
    const batch = (await person.call('POST', '/v1/pdf/batch', { items, webhookUrl: url })).json.jobId;
    await eventually('the renders have ended', async () => {
      const found = await api.domain.store.history.some(ids);
      return found.length === ids.length && (await api.domain.batches.store.find(batch))?.finishedAt !== null;
    });
    assert.ok(chunkCount((await api.domain.batches.store.find(batch))!) > 0);
    await useFiles(person, id);
    assert.equal((await person.call('POST', '/v1/pdf', { html: '' })).status, 400);
    await useStores(person.accountId);
    api.worker.render = async () => ({ retries: new PlatenError('RENDER_FAILED') });
    await person.call('POST', '/v1/pdf', { html, executionMode: 'async' });
    const retries = api.domain.connection.collection<{ accountId: string }>('job_retries');
    await eventually('a job waits for its retry', async () => {
      return (await retries.countDocuments({ accountId: person.accountId })) === 1;
    });
    api.worker.render = async () => ({ pages: 1 });
    await api.domain.flush();
  }

  /** A paused batch of a file, and an upload that no batch uses. */
  async function useFiles(person: FirstPerson, templateId: string): Promise<void> {
    const { files } = api.domain.batches;
    const [upload, unused] = [randomUUID(), randomUUID()];
    for (const _id of [upload, unused])
      await files.keep({ _id, accountId: person.accountId, test: false }, 1e9, bytesOf(csvOf(5)));
    const source = { upload, format: 'csv', templateId };
    const { jobId } = (await person.call('POST', '/v1/pdf/batch', { source })).json;
    // Another account's is not to be read while this one is deleted.
    assert.equal((await person.call('POST', `/v1/pdf/batch/${jobId}/pause`)).status, 200);
  }

  /** What no request of a test makes: records of billing, of alerts, and of a takeover. */
  async function useStores(accountId: string): Promise<void> {
    const { billing, domain } = api;
    const { connection, clock } = domain;
    await billing.store.open(accountId);
    const invoice = {
      ...{ id: `in_${accountId}`, number: MARK, status: 'paid', currency: 'usd' },
      ...{ amountDueCents: 1, amountPaidCents: 1, createdAt: clock.now(), hostedInvoiceUrl: null },
      ...{ pdfUrl: null, subscriptionId: null, blockId: null, subscriptionPeriod: null },
    };
    await billing.mirror.add(accountId, [invoice]);
    const _id = `block-${accountId}`;
    await billing.blocks.add({ _id, accountId, kind: 'by-hand', units: 1, priceCents: 1 });
    const block = (await billing.blocks.claim((await billing.blocks.find(_id))!))!;
    await billing.blocks.change(block, { state: 'failed' });
    await domain.alerts.notice([{ accountId, dueAt: clock.now() }]);
    await api.tenants.notifications.choose(accountId, accountId, { quota: true }, { actor: 'account' });
    await new TakeoverStore(connection, clock).begin(accountId, 1, { actor: 'account' });
  }

  /** By collection, how many records have one of these texts. */
  const mentions = (...texts: readonly string[]) => recordsWith(api.domain.connection, texts);

  async function files(): Promise<string[]> {
    const entries = await readdir(api.outputFolder!, { recursive: true, withFileTypes: true });
    return entries.filter((entry) => entry.isFile()).map(({ name }) => name);
  }

  it('is gone with all that it had, and nothing of others is', async () => {
    const other = await FirstPerson.register(api);
    await useAll(other);
    const others = await mentions(other.accountId);
    const filesOfOthers = await files();
    const person = await FirstPerson.register(api);
    await useAll(person);
    const { accountId, email } = person;
    const fences = { ownerFence: undefined, personFence: undefined };
    const elsewhere = { accountId: other.accountId, personId: accountId, role: 'viewer', ...fences } as const;
    await api.tenants.memberships.put(elsewhere);
    const before = await mentions(accountId);
    // Every collection whose records name accounts has one of this account.
    const naming = declaredCollections(api.domain.connection).filter(
      ({ account }) => typeof account === 'string',
    );
    const unused = naming.map(({ name }) => name).filter((name) => before[name] === undefined);
    assert.deepEqual(unused, []);
    assert.ok((await files()).length > filesOfOthers.length);
    const jobIds = await idsOf(accountId);
    assert.equal(jobIds.length, 9);

    const marked = await remove(accountId, email.toUpperCase());
    assert.ok(marked.deletingSince !== null && marked.suspendedAt !== null);
    assert.deepEqual(
      (await listed(accountId)).map(({ deletingSince }: { deletingSince: string }) => deletingSince),
      [marked.deletingSince],
    );
    await finishDeletion(api, accountId);

    assert.deepEqual(await mentions(accountId, email, ...jobIds), { audit_log: 1 });
    assert.deepEqual((await files()).sort(), filesOfOthers.sort());
    assert.deepEqual(await listed(accountId), []);
    assert.deepEqual(await mentions(other.accountId), others);
    await other.assertGoesOn();
    const [entry, ...more] = (await admin.audited('account.deleted')).filter(
      (e) => e.accountId === accountId,
    );
    assert.deepEqual([entry?.operator, entry?.details, more], ['anna', {}, []]);
    // The audit log names the other account's template, and that this account was deleted.
    const withoutAudit = async (...texts: string[]) => ({ ...(await mentions(...texts)), audit_log: 0 });
    assert.deepEqual(await withoutAudit(MARK), await withoutAudit(MARK, accountId));
  });

  it('is refused while its person owns another account by transfer', async () => {
    const [owned, person] = [await FirstPerson.register(api), await FirstPerson.register(api)];
    const seen = (await api.accounts.findNow(owned.accountId))!;
    assert.ok(await api.accounts.setOwner(seen, person.accountId));
    const body = { confirm: person.accountId };
    const path = `/admin/api/accounts/${person.accountId}/delete`;
    const { status, json } = await admin.call('POST', path, body);
    assert.equal(status, 400);
    assert.match(json.message, new RegExp(`owns account ${owned.accountId}`));
    await person.assertGoesOn();
    await remove(owned.accountId);
    await finishDeletion(api, owned.accountId);
    assert.ok((await remove(person.accountId)).deletingSince !== null);
  });

  it('is refused from the first moment, cannot be resumed, and may be asked for twice', async () => {
    const person = await FirstPerson.register(api);
    const { accountId, email } = person;
    const first = await remove(accountId);
    for (const key of [person.liveKey, person.testKey]) {
      const { status, json } = await person.call('POST', '/v1/pdf', { html: 'x' }, key);
      assert.deepEqual([status, json.code], [403, 'ACCOUNT_SUSPENDED']);
      assert.match([json.message].flat().join(), /is deleting the account/);
    }
    assert.equal((await person.client.get('/user/usage')).status, 403);
    const login = await fetch(`${api.url}/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email, password: PASSWORD }),
    });
    assert.equal(login.status, 403);
    const resumed = await admin.call('POST', `/admin/api/accounts/${accountId}/resume`);
    assert.equal(resumed.status, 400);
    const { deletingSince } = await remove(accountId);
    assert.equal(deletingSince, first.deletingSince);
    // The address is taken until the account is gone.
    assert.equal(await api.accounts.create(email, null, 'free'), undefined);
    await finishDeletion(api, accountId);
    const again = await signUp(api.url, email);
    const { id } = await again.expect(200, 'GET', '/auth/me');
    assert.notEqual(id, accountId);
    assert.equal(
      (await admin.call('POST', `/admin/api/accounts/${accountId}/delete`, { confirm: email })).status,
      404,
    );
    const entries = (await admin.audited('account.deleted')).filter((entry) => entry.accountId === accountId);
    assert.equal(entries.length, 1);
  });

  it('has to be confirmed by its own address or id', async () => {
    const person = await FirstPerson.register(api);
    const path = `/admin/api/accounts/${person.accountId}/delete`;
    for (const body of [{ confirm: 'other@example.com' }, { confirm: '' }, {}])
      assert.equal((await admin.call('POST', path, body)).status, 400);
    await person.assertGoesOn();
    assert.equal(await noted(person.accountId), undefined);
  });

  it('has its running and waiting work cancelled, and no PDF of a render that ends later stays', async () => {
    const person = await FirstPerson.register(api);
    const filesOfOthers = await files();
    const gate = latch();
    let begun = 0;
    api.worker.render = async () => {
      begun += 1;
      await gate.opened;
      return { pages: 1 };
    };
    for (let i = 0; i < 3; i += 1)
      await person.call('POST', '/v1/pdf', { html: MARK, executionMode: 'async' });
    const items = Array.from({ length: 40 }, (_, i) => ({ id: `${i}`, html: MARK }));
    await person.call('POST', '/v1/pdf/batch', { items });
    await eventually('some are being rendered', () => begun > 2);
    await remove(person.accountId);
    await finishDeletion(api, person.accountId);
    gate.open();
    await api.worker.stop();
    await api.worker.start();
    await api.domain.flush();
    assert.deepEqual(await mentions(person.accountId), { audit_log: 1 });
    assert.deepEqual((await files()).sort(), filesOfOthers.sort());
  });

  it('is deleted by another process when one dies in any step, and by two at once', async () => {
    const names = ['end work', 'jobs', 'batches', 'records'];
    for (const dying of names) {
      const person = await FirstPerson.register(api);
      await useAll(person);
      await remove(person.accountId);
      const died = latch();
      const dead = openDeletion(api, (steps) => {
        assert.deepEqual(
          steps.map(({ name }) => name),
          names,
        );
        return steps.map((step) => ({
          ...step,
          async run(accountId: string) {
            const isDone = await step.run(accountId);
            if (step.name !== dying) return isDone;
            died.open();
            return new Promise<never>(() => undefined);
          },
        }));
      });
      const { sweep, close } = sweeps(api, dead);
      // The last call does not return.
      const sweepUntilDead = async () => {
        for (;;) await sweep();
      };
      void sweepUntilDead();
      await died.opened;
      await close();
      assert.equal(await openDeletion(api).sweep(), 0);
      assert.ok((await api.accounts.findNow(person.accountId)) !== undefined);
      api.domain.clock.pass(3 * LEASE_MS);
      const [one, two] = [openDeletion(api), openDeletion(api)];
      await Promise.all([one.sweep(), two.sweep()]);
      await finishDeletion(api, person.accountId, two);
      assert.deepEqual(await mentions(person.accountId), { audit_log: 1 }, dying);
    }
  });

  it('is deleted although the process died that was asked, before or after it had marked the account', async () => {
    const { connection, clock } = api.domain;
    const person = await FirstPerson.register(api);
    const { accountId } = person;
    const deletions = new DeletionStore(connection, clock);
    const by = { actor: 'operator', operator: 'anna' } as const;
    await deletions.note(accountId, by);
    clock.pass(2 * LEASE_MS);
    await openDeletion(api).sweep();
    await person.assertGoesOn();
    const account = (await api.accounts.findNow(accountId))!;
    await api.tenants.accountService.markDeleting(account, by);
    clock.pass(QUIET_MS);
    await finishDeletion(api, accountId);
    assert.deepEqual(await mentions(accountId), { audit_log: 1 });
  });

  it('that was noted and never marked stays, and the note goes', async () => {
    const { connection, clock } = api.domain;
    const person = await FirstPerson.register(api);
    await new DeletionStore(connection, clock).note(person.accountId, { actor: 'operator' });
    clock.pass(11 * QUIET_MS);
    await openDeletion(api).sweep();
    clock.pass(-11 * QUIET_MS);
    assert.equal(await noted(person.accountId), undefined);
    await person.assertGoesOn();
  });

  it('is refused with a subscription, and waits when one comes in the middle', async () => {
    const person = await FirstPerson.register(api);
    const { accountId } = person;
    const { store } = api.billing;
    const subscribed = async (status: string) => {
      const { generation } = await store.open(accountId);
      await store.setCustomer(accountId, generation, `cus_${accountId}`);
      await store.want(`cus_${accountId}`, 'a test');
      const { clock } = api.domain;
      const none = { customerId: `cus_${accountId}`, deleted: true, subscriptions: [], invoices: [] };
      const state = syncSubscription(none, { now: clock.now(), isPlan: () => true });
      const claimed = (await store.claimCustomer((await store.find(accountId))!))!;
      assert.ok(await store.note(claimed, { ...state, status }));
    };
    await subscribed('active');
    const path = `/admin/api/accounts/${accountId}/delete`;
    const refused = await admin.call('POST', path, { confirm: accountId });
    assert.equal(refused.status, 400);
    assert.match([refused.json.message].flat().join(), /subscription is active: cancel it/);
    await person.assertGoesOn();
    assert.equal(await noted(accountId), undefined);
    await subscribed('canceled');
    await remove(accountId);
    await subscribed('past_due');
    assert.equal(await openDeletion(api).sweep(), 0);
    assert.ok((await mentions(accountId)).api_keys !== undefined);
    await subscribed('canceled');
    api.domain.clock.pass(QUIET_MS);
    await finishDeletion(api, accountId);
    assert.deepEqual(await mentions(accountId), { audit_log: 1 });
  });

  async function idsOf(accountId: string): Promise<string[]> {
    return (await api.domain.store.history.ofAccount(accountId, 1000)).map(({ _id }) => _id);
  }
});
