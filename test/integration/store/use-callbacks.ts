import { randomUUID } from 'node:crypto';
import { endCallbacks } from '../../../src/work/callbacks/retention.ts';
import { signUp } from '../../support/account-client.ts';
import { eventually } from '../../support/eventually.ts';
import type { TestApi } from '../http/support/api.ts';

const DAY_MS = 86_400_000;
const NOBODY = { pairs: [], accounts: [], hosts: [] };

/** Every way that a callback goes, and the keys that sign it. */
export async function useCallbacks({ url, domain, newCaller }: TestApi): Promise<void> {
  const { deliveries, keys } = domain.callbacks;
  const caller = await newCaller();
  const webhookUrl = 'https://127.9.9.1/hook';
  await caller.render({ html: '<p>x</p>', executionMode: 'async', webhookUrl });
  const all = { limit: 10, offset: 0, newestFirst: true } as const;
  const page = () => deliveries.list(caller.accountId, all);
  await eventually('its callback is ordered', async () => (await page()).total === 1);
  const [ordered] = (await page()).deliveries;
  for (const sent of [deliveries, domain.callbacks.uploads]) {
    await sent.dueExcept(NOBODY, 10);
    await sent.dueExcept({ pairs: ['a'], accounts: ['b'], hosts: ['c'] }, 10);
  }
  const claimed = (await deliveries.claim(ordered!))!;
  const noted = { lastAttemptAt: domain.clock.now(), responseStatus: 500, error: 'x' };
  await deliveries.finishAttempt(claimed, { ...noted, state: 'pending', dueAt: domain.clock.now() });
  await deliveries.release((await deliveries.claim((await deliveries.due(1))[0]!))!);
  await deliveries.redeliver(caller.accountId, ordered!._id);
  const again = (await deliveries.claim((await deliveries.due(1))[0]!))!;
  await deliveries.finishAttempt(again, { ...noted, state: 'failed' });
  await deliveries.find(ordered!._id);
  await deliveries.list(caller.accountId, { ...all, state: 'failed', newestFirst: false });
  await deliveries.redeliverFailed(caller.accountId, { from: new Date(0) });
  await endCallbacks(deliveries, domain.stored, new Date(domain.clock.now().getTime() - 91 * DAY_MS));
  await deliveries.storedBytes(caller.accountId);
  await keys.signing(caller.accountId);
  const owner = await signUp(url, `${randomUUID()}@example.com`);
  for (let i = 0; i < 2; i += 1) await owner.expect(200, 'POST', '/user/webhook-keys/rotate');
  await owner.get('/user/webhook-keys');
  await owner.get('/user/webhook-deliveries?status=pending&sort=created_asc');
  await owner.call('POST', `/user/webhook-deliveries/${ordered!._id}/redeliver`);
}
