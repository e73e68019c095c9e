import { randomUUID } from 'node:crypto';
import { PlatenError } from '../../infra/errors/registry.ts';
import { hashSecret } from '../../infra/ids/hash-secret.ts';
import { type AuditAction, byAccount, type DoneBy } from '../audit/audit-log.ts';
import { MAX_MEMBERSHIPS } from '../members/membership-store.ts';
import type { MemberRole, Role } from '../members/roles.ts';
import type { Browser } from './access-token-store.ts';
import { requireActive } from './account.ts';
import { isInForce, ownerIdOf } from './account-access.ts';
import { nameOf, shownAs } from './account-name.ts';
import type { AccountService } from './account-service.ts';
import type { Account } from './account-store.ts';
import type { Session } from './bearer.ts';
import { hasKnownOwner } from './known-owner.ts';
import type { SignedIn, SignIn } from './sign-in.ts';
import type { Stores } from './stores.ts';
import type { TeamInvitation, TeamInvitationStore } from './team-invitation-store.ts';

interface TeamDeps
  extends Pick<Stores, 'accounts' | 'memberships' | 'tokens' | 'mailLimit' | 'outbox' | 'audit'> {
  readonly accountService: AccountService;
  readonly invitations: TeamInvitationStore;
  readonly signIn: Pick<SignIn, 'signIn' | 'actFor'>;
}

/** A person of an account. */
export interface TeamMember {
  readonly person: Account;
  readonly role: Role;
  /** When the person joined; for the person who registered the account, when that was. */
  readonly since: Date;
}

/** How somebody who accepts an invitation shows to be the person, besides its token. */
export interface InvitationProof {
  /** Of the browser, where it has one. */
  readonly session: Session | undefined;
  /** The present password of the address, or the first one of an address without a sign-in. */
  readonly password: string | undefined;
  /** Of the second factor, where the person has one. */
  readonly code: string | undefined;
}

/** How long an invitation can be accepted, in milliseconds. */
const INVITATION_MS = 7 * 24 * 3_600_000;

/** The people of accounts: invitations, roles, removal and the transfer of ownership. Each change is in the audit log. */
export class Team {
  readonly #deps: TeamDeps;

  constructor(deps: TeamDeps) {
    this.#deps = deps;
  }

  /** The owner first, then the members from the oldest on. */
  async members(account: Account): Promise<TeamMember[]> {
    const { accounts, memberships } = this.#deps;
    const ownerId = ownerIdOf(account);
    const [owner, found] = await Promise.all([accounts.find(ownerId), memberships.ofAccount(account._id)]);
    const members = await Promise.all(
      found.map(async (membership) => ({ membership, person: await accounts.find(membership.personId) })),
    );
    const ofOwner = found.find(({ personId }) => personId === ownerId);
    const first = owner && !account.memberOnly ? [{ person: owner, role: 'owner' as const }] : [];
    return [
      ...first.map((one) => ({ ...one, since: ofOwner?.createdAt ?? account.createdAt })),
      ...members.flatMap(({ membership, person }) => {
        const counts =
          person !== undefined && person._id !== ownerId && isInForce(membership, account, person);
        return counts ? [{ person, role: membership.role, since: membership.createdAt }] : [];
      }),
    ];
  }

  /** The invitations that can be accepted, the oldest first. */
  async openInvitations(account: Account): Promise<TeamInvitation[]> {
    const found = await this.#deps.invitations.ofAccount(account._id);
    return found.filter((invitation) => fenceOf(invitation) === fenceOf(account));
  }

  /**
   * Mails an invitation, in place of an earlier one to the same address. Whether the address has an account here makes no
   * difference.
   *
   * @throws PlatenError ADDRESS_NOT_CONFIRMED; ALREADY_MEMBER; MEMBER_CAPACITY; TOO_MANY_MAILS.
   */
  async invite(
    { account, person }: Session,
    { email: address, role }: { readonly email: string; readonly role: MemberRole },
    clientAddress: string | undefined,
  ): Promise<TeamInvitation> {
    const { invitations, mailLimit, outbox } = this.#deps;
    const email = address.toLowerCase();
    if (!hasKnownOwner(person))
      throw new PlatenError(
        'ADDRESS_NOT_CONFIRMED',
        'Confirm your own e-mail address before you invite others.',
      );
    const [members, open] = await Promise.all([this.members(account), this.openInvitations(account)]);
    if (members.some((member) => member.person.email === email)) throw new PlatenError('ALREADY_MEMBER');
    const earlier = open.filter((invitation) => invitation.email === email);
    if (members.length + open.length - earlier.length > MAX_MEMBERSHIPS)
      throw new PlatenError('MEMBER_CAPACITY');
    await mailLimit.count(email, 'team-invitation', clientAddress);
    for (const { _id } of earlier) await invitations.revoke(account._id, _id);
    const fence = account.ownerFence === undefined ? {} : { ownerFence: account.ownerFence };
    const name = nameOf(account, person.email);
    const fields = { accountId: account._id, email, role, ...fence };
    const { secret, record } = await invitations.create(fields, INVITATION_MS);
    await outbox.enqueue({
      id: `team-invitation:${record._id}`,
      accountId: account._id,
      to: email,
      kind: 'team-invitation',
      values: { token: secret, until: record.expiresAt.toISOString(), by: person.email, role, account: name },
    });
    await this.#record(account, 'member.invited', byAccount(clientAddress, person._id), { email, role });
    return record;
  }

  /** @throws PlatenError NOT_FOUND */
  async revokeInvitation(account: Account, id: string, by: DoneBy): Promise<void> {
    if (!(await this.#deps.invitations.revoke(account._id, id)))
      throw new PlatenError('NOT_FOUND', 'There is no such invitation.');
    await this.#record(account, 'member.invitation_revoked', by);
  }

  /** What an invitation offers to whoever has its token. @throws PlatenError INVITATION_INVALID */
  async readInvitation(token: string) {
    const { accounts, invitations } = this.#deps;
    const invitation = await invitations.read(token);
    const account = await this.#accountOf(invitation);
    const known = await accounts.findByEmail(invitation!.email);
    return {
      email: invitation!.email,
      role: invitation!.role,
      expiresAt: invitation!.expiresAt,
      ...(await shownAs(accounts, account)),
      hasSignIn: known !== undefined,
    };
  }

  /**
   * Makes a person a member, and signs the person in to the account. The token shows that its holder reads the mail of
   * the address; whoever has registered the address must show to be the same person, because anybody can register it.
   *
   * @throws PlatenError INVITATION_INVALID; INVITATION_UNPROVEN; UNAUTHENTICATED for a wrong password; TOO_MANY_FAILURES;
   * ACCOUNT_SUSPENDED; UNAVAILABLE.
   */
  async accept(
    token: string,
    proof: InvitationProof,
    clientAddress: string | undefined,
    browser: Browser,
  ): Promise<SignedIn> {
    const { accounts, accountService, invitations, memberships, tokens, signIn, audit } = this.#deps;
    const seen = await invitations.read(token);
    await this.#accountOf(seen);
    const signedIn = await this.#personOf(seen!, proof, clientAddress, browser);
    const invitation = await invitations.take(token);
    if (invitation === undefined && proof.session === undefined)
      await tokens.revoke(signedIn.tokenId, signedIn.person._id, signedIn.tokenExpiresAt);
    const account = await this.#accountOf(invitation);
    const { person } = signedIn;
    const { role } = invitation!;
    const by = byAccount(clientAddress, person._id);
    if (!hasKnownOwner(person)) await accountService.confirmAddress(person, by);
    if (ownerIdOf(account) !== person._id) {
      const fences = { ownerFence: account.ownerFence, personFence: person.ownerFence };
      await memberships.put({ accountId: account._id, personId: person._id, role, ...fences });
      await audit.record({
        ...{ accountId: account._id, action: 'member.joined', ...by },
        ...{ targetId: person._id, details: { role } },
      });
    }
    await accounts.setActsFor(person._id, account._id);
    return signIn.actFor(signedIn, account._id, clientAddress);
  }

  /** @throws PlatenError NOT_FOUND without such a member; OWNER_REQUIRED for the owner. */
  async setRole(account: Account, personId: string, role: MemberRole, by: DoneBy): Promise<TeamMember> {
    const member = await this.#member(account, personId);
    await this.#deps.memberships.setRole(account._id, personId, role);
    await this.#record(account, 'member.role_changed', by, { from: member.role, to: role }, personId);
    return { ...member, role };
  }

  /**
   * Ends a membership and the sessions of the person that act for the account, in every process within a second.
   *
   * @throws PlatenError NOT_FOUND without such a member; OWNER_REQUIRED for the owner.
   */
  async remove(account: Account, personId: string, by: DoneBy): Promise<void> {
    const { memberships, tokens } = this.#deps;
    await this.#member(account, personId);
    await memberships.remove(account._id, personId);
    await tokens.deleteActing(personId, account._id);
    await this.#record(account, 'member.removed', by, {}, personId);
  }

  /**
   * Gives the account to one of its members, in every process within a second; the present owner stays as a developer.
   *
   * @throws PlatenError NOT_FOUND without such a member; OWNER_REQUIRED when it is the owner's already;
   * ACCOUNT_SUSPENDED; ADDRESS_NOT_CONFIRMED when the member has confirmed no address.
   */
  async transfer({ account: seen, person }: Session, personId: string, by: DoneBy): Promise<void> {
    const { accounts, memberships, outbox } = this.#deps;
    const account = await accounts.findNow(seen._id);
    if (account === undefined || ownerIdOf(account) !== person._id) throw new PlatenError('UNAUTHENTICATED');
    const { person: next } = await this.#member(account, personId);
    requireActive(next);
    if (next.managedBy !== undefined)
      throw new PlatenError(
        'VALIDATION',
        'Only somebody with a password of this service can own an account: an issuer that is away would shut the owner out.',
      );
    if (!hasKnownOwner(next) || !hasKnownOwner(person))
      throw new PlatenError('ADDRESS_NOT_CONFIRMED', 'Both owners need a confirmed e-mail address.');
    // Before the change: afterwards nobody would know that the former owner belongs to the account.
    const fences = { ownerFence: account.ownerFence, personFence: person.ownerFence };
    await memberships.put({ accountId: account._id, personId: person._id, role: 'developer', ...fences });
    if (!(await accounts.setOwner(account, next._id)))
      throw new PlatenError('UNAUTHENTICATED', 'The account has another owner now.');
    await this.#record(account, 'account.owner_changed', by, {}, next._id);
    for (const { email } of [next, person]) {
      if (email === null) continue;
      const id = `ownership-transferred:${randomUUID()}`;
      const values = { from: person.email, to: next.email };
      await outbox.enqueue({ id, accountId: account._id, to: email, kind: 'ownership-transferred', values });
    }
  }

  /** A member who is not the owner. */
  async #member(account: Account, personId: string): Promise<TeamMember> {
    if (ownerIdOf(account) === personId && !account.memberOnly) throw new PlatenError('OWNER_REQUIRED');
    const found = (await this.members(account)).find(({ person }) => person._id === personId);
    if (found === undefined) throw new PlatenError('NOT_FOUND', 'There is no such member.');
    return found;
  }

  /** The account that an invitation is of. @throws PlatenError INVITATION_INVALID; ACCOUNT_SUSPENDED. */
  async #accountOf(invitation: TeamInvitation | undefined): Promise<Account> {
    const account = invitation && (await this.#deps.accounts.findNow(invitation.accountId));
    if (account === undefined || fenceOf(account) !== fenceOf(invitation!))
      throw new PlatenError('INVITATION_INVALID');
    requireActive(account);
    return account;
  }

  /** Signs in the person of an invitation's address, who may be new here. */
  async #personOf(
    { email }: TeamInvitation,
    { session, password, code }: InvitationProof,
    clientAddress: string | undefined,
    browser: Browser,
  ): Promise<Session> {
    const { accountService, signIn } = this.#deps;
    if (session?.person.email === email) return session;
    if (password === undefined)
      throw new PlatenError(
        'INVITATION_UNPROVEN',
        session && `The invitation is for ${email}, and this browser is signed in as another person.`,
      );
    // For a known address this makes nothing, and the password has to be its own.
    await accountService.createMember(email, password, byAccount(clientAddress));
    const signedIn = await signIn.signIn({ email, password, code }, clientAddress, browser);
    return { ...signedIn, tokenId: hashSecret(signedIn.token), tokenExpiresAt: signedIn.expiresAt };
  }

  #record(
    { _id }: Account,
    action: AuditAction,
    by: DoneBy,
    details: Record<string, string> = {},
    targetId?: string,
  ): Promise<void> {
    const about = targetId === undefined ? {} : { targetId };
    return this.#deps.audit.record({ accountId: _id, action, ...by, ...about, details });
  }
}

function fenceOf({ ownerFence = 0 }: { readonly ownerFence?: number }): number {
  return ownerFence;
}
