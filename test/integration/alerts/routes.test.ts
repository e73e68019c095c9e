import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { PlatenError } from '../../../src/infra/errors/registry.ts';
import { openMailSender } from '../../../src/tenants/mail/open-sender.ts';
import type { MemberRole } from '../../../src/tenants/members/roles.ts';
import { AccountClient } from '../../support/account-client.ts';
import { MailServer } from '../../support/mail-server.ts';
import { newMember } from '../accounts/support/member.ts';
import { type TestCaller, useApi } from '../http/support/api.ts';
import { judgeOf, mailsTo, ownedCaller, renderMany } from './support.ts';

const PATH = '/public/notifications/unsubscribe';

describe('The routes of alerts', () => {
  const api = useApi({ plan: { monthlyRenders: 10 } });
  let caller: TestCaller;
  let owner: AccountClient;
  beforeEach(async () => {
    caller = await ownedCaller(api);
    owner = new AccountClient(api.url, (await api.tenants.tokens.issue(caller.accountId)).token);
  });
  const memberOf = async (role: MemberRole) => (await newMember(api, caller.accountId, role)).client;
  const kindsOf = (mails: readonly { kind: string; on: boolean }[]) =>
    mails.filter(({ on }) => on).map(({ kind }) => kind);

  it('give each role what it sees, and nothing else can be turned on', async () => {
    const expected: Record<MemberRole, readonly [on: string[], refused: string | undefined]> = {
      developer: [['failures', 'webhooks'], 'spend'],
      billing: [['quota', 'spend'], 'failures'],
      viewer: [[], 'spend'],
    };
    const own = await owner.expect(200, 'GET', '/user/notifications');
    assert.deepEqual(kindsOf(own.mails), ['quota', 'spend', 'failures', 'webhooks']);
    for (const [role, [on, refused]] of Object.entries(expected)) {
      const person = await memberOf(role as MemberRole);
      const { mails } = await person.expect(200, 'GET', '/user/notifications');
      assert.deepEqual(kindsOf(mails), on, role);
      const denied = await person.expect(403, 'PATCH', '/user/notifications', { [refused!]: true });
      assert.equal(denied.code, 'ROLE_NOT_ALLOWED');
      const chosen = await person.expect(200, 'PATCH', '/user/notifications', { quota: true });
      assert.ok(kindsOf(chosen.mails).includes('quota'));
      await person.expect(403, 'PATCH', '/user/notifications/thresholds', { failurePercent: 5 });
    }
    const after = await owner.expect(200, 'GET', '/user/notifications');
    assert.deepEqual(after, own, 'the choice of one is nobody else’s');
  });

  it('keep thresholds and choices, and say so in the audit log', async () => {
    const change = { quotaPercents: [100, 90, 90], failurePercent: 5 };
    const { thresholds } = await owner.expect(200, 'PATCH', '/user/notifications/thresholds', change);
    const expected = { quotaPercents: [90, 100], failurePercent: 5, failureRenders: 20, webhookFailures: 20 };
    assert.deepEqual(thresholds, expected);
    await owner.expect(200, 'PATCH', '/user/notifications', { webhooks: false });
    const { entries } = await owner.expect(200, 'GET', '/user/audit-log?action=notifications.changed');
    assert.deepEqual(
      entries.map(({ details }: { details: object }) => details),
      [{ webhooks: 'false' }, { failurePercent: '5', quotaPercents: '90,100' }],
    );
    for (const [bad, field] of [
      [{ quotaPercents: [51] }, 'quotaPercents'],
      [{ failurePercent: 0 }, 'failurePercent'],
      [{ failureRenders: 1.5 }, 'failureRenders'],
      [{ other: 1 }, 'other'],
    ] as const) {
      const { message } = await owner.expect(400, 'PATCH', '/user/notifications/thresholds', bad);
      assert.match(String(message), new RegExp(field));
    }
  });

  it('say what is the matter, to each role what it sees', async () => {
    api.worker.render = async () => ({ fails: new PlatenError('RENDER_TIMEOUT') });
    await renderMany(api, caller, 1);
    api.worker.render = async () => ({ pages: 1 });
    await renderMany(api, caller, 8);
    await owner.expect(200, 'PATCH', '/user/notifications/thresholds', {
      failureRenders: 5,
      failurePercent: 5,
    });
    api.domain.clock.pass(60_000);
    await judgeOf(api).sweep();
    const seen = await owner.expect(200, 'GET', '/user/alerts');
    const { renewsAt, ...quota } = seen.quota;
    assert.deepEqual(quota, { used: 8, limit: 10, left: 2, percent: 80, reached: 80, beyond: 'rejected' });
    assert.ok(Date.parse(renewsAt) > api.domain.clock.now().getTime());
    const { hour: _, ...failures } = seen.failures;
    assert.deepEqual(failures, { renders: 9, failed: 1, codes: [{ code: 'RENDER_TIMEOUT', count: 1 }] });
    assert.deepEqual([seen.spend, seen.webhooks], [null, []]);
    const billing = await memberOf('billing');
    const other = await billing.expect(200, 'GET', '/user/alerts');
    assert.deepEqual([other.failures, other.quota.used], [null, 8]);
  });

  describe('Unsubscribing by the link of a mail', () => {
    let server: MailServer;
    beforeEach(async () => {
      server = await MailServer.start();
    });
    afterEach(() => server.close());

    /** Sends the alert of a used-up quota. @returns the mail as it came. */
    async function received(): Promise<string> {
      await renderMany(api, caller, 10);
      await judgeOf(api).sweep();
      const config = { ...api.core.config, SMTP_URL: server.url };
      const sender = openMailSender({ ...api.core, ...api.tenants, ...api.billing, config }, undefined);
      await sender.sweep.run();
      await sender.stop();
      const to = (await api.accounts.find(caller.accountId))!.email!;
      return server.delivered.map(({ message }) => message).find((message) => message.includes(to))!;
    }
    const linkIn = (message: string) =>
      /^List-Unsubscribe:\s*<([^>]+)>/m.exec(message.replaceAll(/\r?\n[ \t]+/g, ''))![1]!;

    it('works by one request of a mail program, without signing in, for this kind and person alone', async () => {
      const message = await received();
      assert.match(message, /^List-Unsubscribe-Post: List-Unsubscribe=One-Click\r?$/m);
      const link = linkIn(message);
      const page = await fetch(link);
      assert.equal(page.status, 200);
      assert.match(page.headers.get('content-security-policy')!, /default-src 'none'/);
      assert.match(await page.text(), /Stop these mails\?/);
      const before = await owner.expect(200, 'GET', '/user/notifications');
      assert.ok(kindsOf(before.mails).includes('quota'), 'fetching it changes nothing');
      for (let i = 0; i < 2; i += 1) {
        const response = await fetch(link, {
          method: 'POST',
          headers: { 'content-type': 'application/x-www-form-urlencoded' },
          body: 'List-Unsubscribe=One-Click',
        });
        assert.equal(response.status, 200);
        assert.match(await response.text(), /You get no more of these mails/);
      }
      const { mails } = await owner.expect(200, 'GET', '/user/notifications');
      assert.deepEqual(kindsOf(mails), ['spend', 'failures', 'webhooks']);
    });

    it('does nothing by a token that is cut, forged, of another purpose, or of who has left', async () => {
      const { notifications, memberships } = api.tenants;
      const token = await notifications.linkOf(caller.accountId, {
        personId: caller.accountId,
        about: 'quota',
      });
      const member = await newMember(api, caller.accountId, 'developer');
      const left = await notifications.linkOf(caller.accountId, {
        personId: member.personId,
        about: 'quota',
      });
      await memberships.remove(caller.accountId, member.personId);
      const disable = await api.disableLinks.sign(caller.accountId, api.domain.clock.now());
      for (const bad of [token.slice(0, -1), `${token}x`, randomUUID(), '', disable, left, '<script>']) {
        const response = await fetch(`${api.url}${PATH}?token=${encodeURIComponent(bad)}`, {
          method: 'POST',
        });
        const text = await response.text();
        assert.match(text, /This link is not valid/, bad);
        assert.ok(!text.includes('<script>'));
      }
      const { mails } = await owner.expect(200, 'GET', '/user/notifications');
      assert.ok(kindsOf(mails).includes('quota'));
      assert.deepEqual(await mailsTo(api, caller.accountId), []);
    });
  });
});
