import type { MemberRole } from '../../../../src/tenants/members/roles.ts';
import { AccountClient, newEmail, signUp } from '../../../support/account-client.ts';
import type { TestApi } from '../../http/support/api.ts';

/** A person whom an account has as a member. */
export interface Member {
  readonly personId: string;
  readonly email: string;
  /** Acts for the account of the owner. */
  readonly client: AccountClient;
}

/** Somebody with an account of the own becomes a member, without a mail. */
export async function newMember(api: TestApi, accountId: string, role: MemberRole): Promise<Member> {
  const email = newEmail();
  const { id: personId } = await (await signUp(api.url, email)).expect(200, 'GET', '/auth/me');
  const fences = { ownerFence: undefined, personFence: undefined };
  await api.tenants.memberships.put({ accountId, personId, role, ...fences });
  return { personId, email, client: await actingFor(api, personId, accountId) };
}

/** A new token with which a person acts for an account. */
export async function actingFor(api: TestApi, personId: string, accountId: string): Promise<AccountClient> {
  const { token } = await api.tenants.tokens.issue(personId, undefined, 0, accountId);
  return new AccountClient(api.url, token);
}
