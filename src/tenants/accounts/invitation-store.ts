import type { Connection } from 'mongoose';
import type { Clock } from '../../infra/clock.ts';
import type { PlanName } from '../plans/plan.ts';
import { type SingleUse, SingleUseStore, singleUseSpec } from './single-use-store.ts';

/** The right to register one account. */
export interface Invitation extends SingleUse {
  /** The plan of the account that is registered with it. */
  readonly plan: PlanName;
}

const INVITATIONS = singleUseSpec('invitations', { none: 'nobody has registered with it yet' });
const CODE_BYTES = 18;

/** Owns the invitations. Their codes are shown once and not stored. */
export class InvitationStore extends SingleUseStore<Invitation> {
  constructor(connection: Connection, clock: Clock) {
    super(connection, clock, INVITATIONS, CODE_BYTES);
  }

  /** Makes a taken invitation valid again, because no account was created with it. */
  async giveBack(invitation: Invitation): Promise<void> {
    await this.records.insertIfAbsent(invitation);
  }
}
