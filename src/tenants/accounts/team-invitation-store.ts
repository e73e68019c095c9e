import type { Connection } from 'mongoose';
import type { Clock } from '../../infra/clock.ts';
import type { MemberRole } from '../members/roles.ts';
import { type SingleUse, SingleUseStore, singleUseSpec } from './single-use-store.ts';

/** The right of whoever reads mail at an address to become a member of an account. */
export interface TeamInvitation extends SingleUse {
  readonly accountId: string;
  /** In lower case. */
  readonly email: string;
  readonly role: MemberRole;
  /** Fence of the account when it was made; absent for 0. It counts with that fence only. */
  readonly ownerFence?: number;
}

const INVITATIONS = singleUseSpec('team_invitations', 'accountId');
const TOKEN_BYTES = 32;

/** Owns the invitations of members. Only hashes of their tokens are stored. */
export class TeamInvitationStore extends SingleUseStore<TeamInvitation> {
  /** To be created before the connection's indexes. */
  constructor(connection: Connection, clock: Clock) {
    super(connection, clock, INVITATIONS, TOKEN_BYTES);
  }

  /** The invitations of an account that can be accepted. */
  async ofAccount(accountId: string): Promise<TeamInvitation[]> {
    const found = await this.records.find({ accountId }, { limit: MAX_FOUND });
    const now = this.clock.now();
    return found
      .filter(({ expiresAt }) => expiresAt > now)
      .sort((a, b) => a.createdAt.getTime() - b.createdAt.getTime());
  }

  /** @returns false when the account has no such invitation. */
  revoke(accountId: string, id: string): Promise<boolean> {
    return this.records.deleteOne({ _id: id, accountId });
  }
}

/** Twice as many as an account can have open: expired ones stay until they are deleted. */
const MAX_FOUND = 200;
