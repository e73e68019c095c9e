import { byAccount } from '../audit/audit-log.ts';
import { PlatenError } from '../errors/registry.ts';
import { FREE_PLAN } from '../plans/plan.ts';
import type { AccountService } from './account-service.ts';
import type { Account } from './account-store.ts';
import type { Invitation, InvitationStore } from './invitation-store.ts';
import type { RegistrationLimit } from './registration-limit.ts';

/** Who may make an account by themselves: everybody, nobody, or whoever has an invitation. */
export const REGISTRATION_MODES = ['open', 'closed', 'invite'] as const;
export type RegistrationMode = (typeof REGISTRATION_MODES)[number];

/** What somebody who registers sends. */
export interface RegistrationRequest {
  readonly email: string;
  readonly password: string;
  readonly invitation?: string | undefined;
}

export interface RegistrationParts {
  readonly accountService: AccountService;
  readonly invitations: InvitationStore;
  readonly limit: RegistrationLimit;
  readonly mode: RegistrationMode;
}

/** Decides who may register an account, and under which plan. */
export class Registration {
  readonly #parts: RegistrationParts;

  constructor(parts: RegistrationParts) {
    this.#parts = parts;
  }

  /**
   * Lets a registration in, before anything is computed for it.
   *
   * @throws PlatenError REGISTRATION_CLOSED; TOO_MANY_REGISTRATIONS.
   */
  async admit({ invitation }: RegistrationRequest, address: string | undefined): Promise<void> {
    const { mode, limit } = this.#parts;
    if (mode === 'closed') throw new PlatenError('REGISTRATION_CLOSED');
    if (mode === 'invite' && invitation === undefined) {
      throw new PlatenError('REGISTRATION_CLOSED', 'An account is made with an invitation only.');
    }
    await limit.count(address);
  }

  /**
   * Makes the account, on the plan of the invitation if there is one. An invitation that led to no account stays good.
   *
   * @returns undefined when the address has an account already.
   * @throws PlatenError INVITATION_INVALID.
   */
  async create(
    { email, password, invitation: code }: RegistrationRequest,
    address: string | undefined,
  ): Promise<Account | undefined> {
    const { accountService, invitations } = this.#parts;
    const invitation = code === undefined ? undefined : await this.#taken(code);
    let account: Account | undefined;
    try {
      const plan = invitation?.plan ?? FREE_PLAN;
      account = await accountService.create({ email, password, plan }, byAccount(address));
    } finally {
      if (account === undefined && invitation !== undefined) await invitations.giveBack(invitation);
    }
    return account;
  }

  async #taken(code: string): Promise<Invitation> {
    const invitation = await this.#parts.invitations.take(code);
    if (invitation === undefined) throw new PlatenError('INVITATION_INVALID');
    return invitation;
  }
}
