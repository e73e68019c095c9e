import { PlatenError } from '../../infra/errors/registry.ts';
import { byAccount } from '../audit/audit-log.ts';
import { FREE_PLAN } from '../plans/plan.ts';
import type { AccountService } from './account-service.ts';
import type { Account } from './account-store.ts';
import type { Invitation, InvitationStore } from './invitation-store.ts';
import type { RegistrationLimit } from './registration-limit.ts';

/** Who may register an account: everybody, nobody, or holders of an invitation. */
export const REGISTRATION_MODES = ['open', 'closed', 'invite'] as const;
export type RegistrationMode = (typeof REGISTRATION_MODES)[number];

/** The fields of a registration. */
export interface RegistrationRequest {
  readonly email: string;
  readonly password: string;
  readonly invitation?: string | undefined;
}

interface RegistrationDeps {
  readonly accountService: AccountService;
  readonly invitations: InvitationStore;
  readonly limit: RegistrationLimit;
  readonly mode: RegistrationMode;
}

/** Decides whether a caller may register an account, and under which plan. */
export class Registration {
  readonly #deps: RegistrationDeps;

  constructor(deps: RegistrationDeps) {
    this.#deps = deps;
  }

  /** To be called before hashing the password. @throws PlatenError REGISTRATION_CLOSED; TOO_MANY_REGISTRATIONS. */
  async admit({ invitation }: RegistrationRequest, address: string | undefined): Promise<void> {
    const { mode, limit } = this.#deps;
    if (mode === 'closed') throw new PlatenError('REGISTRATION_CLOSED');
    if (mode === 'invite' && invitation === undefined) {
      throw new PlatenError('REGISTRATION_CLOSED', 'An account is made with an invitation only.');
    }
    await limit.count(address);
  }

  /**
   * Creates the account, on the plan of the invitation if there is one. An invitation stays valid when no account was
   * created.
   *
   * @returns undefined when the address has an account already.
   * @throws PlatenError INVITATION_INVALID.
   */
  async create(
    { email, password, invitation: code }: RegistrationRequest,
    address: string | undefined,
  ): Promise<Account | undefined> {
    const { accountService, invitations } = this.#deps;
    const invitation = code === undefined ? undefined : await this.#takeInvitation(code);
    let account: Account | undefined;
    try {
      const plan = invitation?.plan ?? FREE_PLAN;
      account = await accountService.create({ email, password, plan }, byAccount(address));
    } finally {
      if (account === undefined && invitation !== undefined) await invitations.giveBack(invitation);
    }
    return account;
  }

  async #takeInvitation(code: string): Promise<Invitation> {
    const invitation = await this.#deps.invitations.take(code);
    if (invitation === undefined) throw new PlatenError('INVITATION_INVALID');
    return invitation;
  }
}
