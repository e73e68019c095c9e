import { randomUUID } from 'node:crypto';
import { PasskeyChallenges } from '../../../src/tenants/accounts/passkey-challenges.ts';
import { PasskeyStore } from '../../../src/tenants/members/passkey-store.ts';
import { SecondFactorStore } from '../../../src/tenants/members/second-factor-store.ts';
import { SignInDomainStore } from '../../../src/tenants/members/sign-in-domain-store.ts';
import { codeOf, stepAt } from '../../../src/tenants/members/totp.ts';
import { cookieOf, openBrowser } from '../../support/browser.ts';
import { newMember } from '../accounts/support/member.ts';
import type { TestApi } from '../http/support/api.ts';

/** A member that acts for the account, in a browser as well, gets another role and is removed. */
export async function useMembers(api: TestApi, accountId: string): Promise<void> {
  const { memberships, tokens, team, teamInvitations } = api.tenants;
  const { personId, email, client } = await newMember(api, accountId, 'viewer');
  await client.expect(200, 'GET', '/user/usage');
  await memberships.setRole(accountId, personId, 'developer');
  const browser = await openBrowser(api.url, email);
  await browser.expect(200, 'GET', '/auth/accounts');
  browser.cookie = cookieOf(await browser.call('PATCH', '/auth/session', { accountId }));
  await browser.expect(200, 'GET', '/auth/me');
  const account = (await api.accounts.findNow(accountId))!;
  await team.members(account);
  await teamInvitations.create({ accountId, email, role: 'viewer' }, 1_000_000);
  for (const { _id } of await team.openInvitations(account)) await teamInvitations.revoke(accountId, _id);
  await api.accounts.setOwner({ ...account, ownerId: undefined }, accountId);
  const factor = new SecondFactorStore(api.domain.connection, api.domain.clock);
  const person = { _id: personId };
  const secret = await factor.begin(person);
  const [code = ''] = (await factor.confirm(person, codeOf(secret, stepAt(api.domain.clock.now())))) ?? [];
  await factor.use((await factor.find(person))!, codeOf(secret, stepAt(api.domain.clock.now()) + 1));
  await factor.use((await factor.find(person))!, code);
  await factor.renewRecoveryCodes(person);
  await factor.removeApp(person);
  await factor.remove(person);
  await memberships.remove(accountId, personId);
  await tokens.deleteActing(personId, accountId);
}

/** A passkey of a person is made, used, renamed and removed, and another one stays. */
export async function usePasskeys({ domain }: TestApi, personId: string): Promise<void> {
  const passkeys = new PasskeyStore(domain.connection, domain.clock);
  const challenges = new PasskeyChallenges(domain.connection, domain.clock);
  const person = { _id: personId };
  const make = () =>
    passkeys.add(person, { credentialId: randomUUID(), name: 'x', publicKey: 'x', counter: 0 });
  const { _id, credentialId } = (await make())!;
  await passkeys.noteUse((await passkeys.byCredential(credentialId))!, 1);
  await passkeys.rename(person, _id, 'y');
  await passkeys.remove(person, _id);
  await make();
  await passkeys.ofPerson(person);
  const { secret } = await challenges.create({ accountId: personId, tokenId: 'x' }, 1_000_000);
  await challenges.take(secret);
  await challenges.create({ accountId: personId, tokenId: 'x' }, 1_000_000);
}

/** An account claims a domain, holds it, has people of it, and loses it again; another claim stays. */
export async function useDomains({ accounts, domain }: TestApi, accountId: string): Promise<void> {
  const domains = new SignInDomainStore(domain.connection, domain.clock);
  const name = `${randomUUID()}.example`;
  const settings = { issuer: 'https://x.example', clientId: 'x', role: 'viewer', required: false } as const;
  const claimed = (await domains.claim({ accountId, domain: name, ownerFence: 0, ...settings }))!;
  await domains.hold(claimed);
  await domains.holding(name);
  await domains.change(accountId, name, { required: true });
  await domains.ofAccount(accountId);
  await accounts.setIssuerRequired(accountId, [name]);
  await accounts.setIssuerRequired(accountId, []);
  const managed = { managedBy: accountId, signInDomain: name, memberOnly: true } as const;
  const { account } = await accounts.findOrCreateFederated(randomUUID(), `x@${name}`, 'free', managed);
  await accounts.managedBy(accountId, name);
  await accounts.deleteManaged(account._id);
  await domains.release(claimed);
  await domains.remove(claimed);
  await domains.claim({ accountId, domain: name, ownerFence: 0, ...settings });
}
