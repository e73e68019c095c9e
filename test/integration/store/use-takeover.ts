import { PASSWORD } from '../../support/account-client.ts';
import { FirstPerson } from '../accounts/support/first-person.ts';
import type { TestApi } from '../http/support/api.ts';

const MINUTE_MS = 60_000;

/** A takeover of an account that has something of every kind, and its second pass. */
export async function useTakeover(api: TestApi): Promise<void> {
  const first = await FirstPerson.register(api);
  await first.client.expect(200, 'POST', '/user/webhook-keys/rotate');
  const url = 'https://example.com/hook';
  await first.client.expect(202, 'POST', '/user/webhook-deliveries/test', { url });
  await first.call('POST', '/v1/pdf', { html: '<p>x</p>', executionMode: 'async' });
  const items = ['a', 'b'].map((id) => ({ id, html: '<p>x</p>' }));
  await first.call('POST', '/v1/pdf/batch', { items, webhookUrl: url });
  await first.browser.expect(202, 'POST', '/auth/email/verification');
  const account = (await api.accounts.findNow(first.accountId))!;
  await api.tenants.takeover.takeOver(account, PASSWORD, { actor: 'account' });
  await api.domain.callbacks.keys.signing(first.accountId, 1);
  api.domain.clock.pass(MINUTE_MS);
  await api.tenants.takeover.sweep();
  api.domain.clock.pass(-MINUTE_MS);
}
