import { PlatenError } from '../../../src/infra/errors/registry.ts';
import { judgeOf, ownedCaller, renderMany } from '../alerts/support.ts';
import { openSender, Receiver, scheduleCallback, testAgent } from '../callbacks/support.ts';
import type { TestApi } from '../http/support/api.ts';

/** What is noticed of an account, judged and told, and who is told of it. */
export async function useAlerts(api: TestApi): Promise<void> {
  const { domain, tenants, worker } = api;
  const caller = await ownedCaller(api);
  const { accountId } = caller;
  worker.render = async () => ({ fails: new PlatenError('RENDER_FAILED') });
  await renderMany(api, caller, 1);
  worker.render = async () => ({ pages: 1 });
  const agent = testAgent();
  const receiver = await Receiver.start();
  for (const status of [500, 200]) {
    receiver.respond = (_request, response) => response.writeHead(status).end();
    await scheduleCallback(domain, receiver.url(), accountId);
    const sender = openSender(domain, agent, { onAttempt: (...of) => domain.noticeCallbacks.note(...of) });
    await sender.send();
    await sender.idle();
    await domain.noticeCallbacks.flush();
    domain.clock.pass(3_600_000);
    await judgeOf(api).sweep();
  }
  await receiver.close();
  await agent.destroy();
  const { notifications } = tenants;
  await notifications.setThresholds(accountId, { failurePercent: 30 }, { actor: 'account' });
  const token = await notifications.linkOf(accountId, { personId: accountId, about: 'quota' });
  await notifications.unsubscribe(token, undefined);
}
