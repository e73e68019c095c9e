import assert from 'node:assert/strict';
import { MailOutbox } from '../../../src/tenants/mail/outbox.ts';
import { eventually } from '../../support/eventually.ts';
import { openApi, type TestApi } from '../http/support/api.ts';
import { MARKER, SECRET, serveAdmin, type TestAdmin, useAdmin } from './support/admin.ts';

describe('Messages and billing in the administration', () => {
  const opened = useAdmin();
  let api: TestApi;
  let admin: TestAdmin;
  before(() => {
    ({ api, admin } = opened);
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

    it('tries again where a provider is set: the event, the purchase and the subscription are due at once', async () => {
      const selling = await openApi({
        // Nobody is there: what is asked of the provider fails.
        billing: { STRIPE_SECRET_KEY: 'sk_test_nobody', STRIPE_API_BASE: 'http://127.0.0.1:9' },
      });
      const there = await serveAdmin(selling);
      try {
        const { accountId } = await selling.newCaller();
        const { store, blocks, selling: sold } = selling.billing;
        await sold!.events.note({
          ...{ id: 'evt_1', type: 'charge.dispute.created' },
          data: { object: { object: 'dispute', charge: 'ch_1' } },
        });
        await sold!.events.resolveWaiting();
        await blocks.add({ _id: 'block-1', accountId, kind: 'auto', units: 100, priceCents: 500 });
        await store.open(accountId);
        await store.setCustomer(accountId, 1, 'cus_1');
        const [event] = await there.allRows('/admin/api/billing/events');
        assert.deepEqual([event.id, event.failures], ['evt_1', 1]);
        assert.ok(new Date(event.nextAttemptAt) > new Date(0));
        const before = (await store.find(accountId))!;
        const targets = { events: 'evt_1', purchases: 'block-1', subscriptions: accountId };
        for (const [kind, id] of Object.entries(targets)) {
          await there.ok('POST', `/admin/api/billing/${kind}/${id}/retry`);
          assert.equal((await there.call('POST', `/admin/api/billing/${kind}/nothing/retry`)).status, 404);
        }
        const now = new Date();
        const [again] = await there.allRows('/admin/api/billing/events');
        assert.ok(new Date(again.nextAttemptAt) <= now);
        assert.ok((await blocks.find('block-1'))!.dueAt! <= now);
        const after = (await store.find(accountId))!;
        assert.equal(after.wanted, before.wanted + 1);
        assert.deepEqual(
          (await there.audited('billing.retried'))
            .map((entry) => [entry.accountId, entry.targetId])
            .reverse(),
          [
            [null, 'evt_1'],
            [accountId, 'block-1'],
            [accountId, accountId],
          ],
        );
      } finally {
        await there.close();
        await selling.close();
      }
    });
  });
});
