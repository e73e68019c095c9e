import assert from 'node:assert/strict';
import { MailOutbox } from '../../../src/mail/outbox.ts';
import { eventually } from '../../support/eventually.ts';
import { openApi, type TestApi } from '../http/support/api.ts';
import { MARKER, SECRET, serveAdmin, type TestAdmin } from './support/admin.ts';

describe('Messages and billing in the administration', () => {
  let api: TestApi;
  let admin: TestAdmin;
  before(async () => {
    api = await openApi();
    admin = await serveAdmin(api);
  });
  after(async () => {
    try {
      admin.assertNothingMarked();
    } finally {
      await admin.close();
      await api.close();
    }
  });
  afterEach(() => {
    api.worker.render = async () => ({ pages: 1 });
  });

  describe('messages', () => {
    it('are listed while they wait and when they were given up, and sent again', async () => {
      const caller = await api.newCaller();
      const webhookUrl = `https://hooks.example.com:8443/${MARKER}?token=${MARKER}`;
      const accepted = await caller.render({ ...SECRET, webhookUrl });
      assert.equal(accepted.status, 202, Buffer.from(accepted.bytes).toString());
      const { jobId } = accepted.json;
      let id = '';
      await eventually('its callback waits', async () => {
        const rows = await admin.allRows('/admin/api/deliveries');
        const own = rows.find((delivery) => delivery.jobId === jobId);
        id = own?.id ?? '';
        return id !== '';
      });
      const { deliveries } = api.domain.callbacks;
      const claimed = await deliveries.claim((await deliveries.find(id))!);
      const end = { state: 'failed', lastAttemptAt: new Date(), responseStatus: 500, error: MARKER } as const;
      await deliveries.finishAttempt(claimed!, end);
      const failed = await admin.allRows('/admin/api/deliveries?state=failed');
      assert.deepEqual(
        failed.map((delivery) => {
          const { host, responseStatus } = delivery;
          return [delivery.id, host, responseStatus];
        }),
        [[id, 'hooks.example.com:8443', 500]],
      );
      const again = await admin.ok('POST', `/admin/api/deliveries/${id}/retry`);
      assert.equal(again.state, 'pending');
      const [act] = await admin.audited('callback.retried');
      assert.deepEqual([act!.operator, act!.targetId, act!.accountId], ['anna', id, caller.accountId]);

      const outbox = new MailOutbox(api.domain.connection, api.domain.clock);
      const mail = { accountId: caller.accountId, to: 'a@example.com', kind: 'password-reset' } as const;
      await outbox.enqueue({ id: 'mail/1', ...mail, values: { token: MARKER, until: 'later' } });
      const taken = await outbox.claim((await outbox.find('mail/1'))!);
      await outbox.finishAttempt(taken!, { state: 'failed', error: '550 no such mailbox' });
      const [given] = await admin.allRows('/admin/api/mails?state=failed');
      assert.equal(given!.id, 'mail/1');
      await admin.ok('POST', '/admin/api/mails/mail%2F1/retry');
      assert.ok((await admin.allRows('/admin/api/mails')).some((waiting) => waiting.id === 'mail/1'));
      await outbox.finishAttempt((await outbox.claim((await outbox.find('mail/1'))!))!, { state: 'sent' });
      assert.equal((await admin.call('POST', '/admin/api/mails/mail%2F1/retry')).json.code, 'NOT_RETRYABLE');
      assert.equal((await admin.call('POST', '/admin/api/mails/none/retry')).status, 404);
      assert.equal((await admin.audited('mail.retried')).length, 1);
    });
  });

  describe('billing', () => {
    it('shows purchases that are not settled and subscriptions with a problem', async () => {
      const { accountId } = await api.newCaller();
      const { store, blocks } = api.billing;
      await blocks.add({ _id: 'block-1', accountId, kind: 'auto', units: 100, priceCents: 500 });
      assert.deepEqual(
        (await admin.allRows('/admin/api/billing/purchases')).map((problem) => [problem.id, problem.state]),
        [['block-1', 'reserved']],
      );
      await store.open(accountId);
      assert.deepEqual(await admin.allRows('/admin/api/billing/subscriptions'), []);
      await store.setCustomer(accountId, 1, 'cus_1');
      await store.want('cus_1', 'test');
      const claimed = await store.claimCustomer((await store.find(accountId))!);
      await store.retryLater(claimed!);
      const [problem] = await admin.allRows('/admin/api/billing/subscriptions?limit=1');
      assert.deepEqual([problem!.accountId, problem!.failures], [accountId, 1]);
      assert.deepEqual(await admin.allRows('/admin/api/billing/events'), []);
      // Nothing is sold here, so there is no provider to read again.
      const retried = await admin.call('POST', `/admin/api/billing/subscriptions/${accountId}/retry`);
      assert.equal(retried.json.code, 'BILLING_NOT_CONFIGURED');
      assert.equal((await admin.call('GET', '/admin/api/billing/nothing')).status, 400);
    });
  });
});
