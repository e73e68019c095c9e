import type { AccountClient } from '../../support/account-client.ts';
import { eventually } from '../../support/eventually.ts';
import type { TestService } from '../../support/service.ts';

/** Gives an account a plan, and waits until the service has heard of it: until then it does what the plan before allowed. */
export async function givePlan(service: TestService, client: AccountClient, plan: string): Promise<string> {
  const { id } = await client.expect(200, 'GET', '/auth/me');
  await service.tenants.accounts.setPlan(id, plan);
  await eventually(
    'the plan is in force',
    async () => (await client.expect(200, 'GET', '/user/plans')).current === plan,
  );
  return id;
}
