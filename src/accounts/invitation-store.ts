import { randomBytes } from 'node:crypto';
import type { Connection } from 'mongoose';
import type { Clock } from '../clock.ts';
import { hashSecret } from '../hash-secret.ts';
import type { PlanName } from '../plans/plan.ts';
import { Collection, type CollectionSpec } from '../store/collection.ts';

/** The right to register one account. */
export interface Invitation {
  /** SHA-256 of its code. */
  readonly _id: string;
  /** The plan of the account that is registered with it. */
  readonly plan: PlanName;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

const CODE_BYTES = 18;
const INVITATIONS: CollectionSpec = { name: 'invitations', indexes: [{ fields: { expiresAt: 1 } }] };

/** Owns the invitations. Their codes are shown once and not stored. */
export class InvitationStore {
  readonly #invitations: Collection<Invitation>;
  readonly #clock: Clock;

  constructor(connection: Connection, clock: Clock) {
    this.#invitations = new Collection(connection, INVITATIONS);
    this.#clock = clock;
  }

  /** @param lifeMs how long the invitation can be used, in milliseconds. */
  async create(plan: PlanName, lifeMs: number): Promise<{ code: string; invitation: Invitation }> {
    const code = randomBytes(CODE_BYTES).toString('base64url');
    const createdAt = this.#clock.now();
    const expiresAt = new Date(createdAt.getTime() + lifeMs);
    const invitation: Invitation = { _id: hashSecret(code), plan, createdAt, expiresAt };
    await this.#invitations.insert(invitation);
    return { code, invitation };
  }

  /** Uses an invitation up. @returns undefined when no valid invitation has this code. */
  async take(code: string): Promise<Invitation | undefined> {
    const invitation = await this.#invitations.findById(hashSecret(code));
    if (invitation === undefined || invitation.expiresAt <= this.#clock.now()) return undefined;
    // When two requests take the invitation concurrently, only one of them deletes it.
    return (await this.#invitations.deleteOne({ _id: invitation._id })) ? invitation : undefined;
  }

  /** Makes a taken invitation valid again, because no account was created with it. */
  async giveBack(invitation: Invitation): Promise<void> {
    await this.#invitations.insertIfAbsent(invitation);
  }

  /** @returns the number of deleted invitations. */
  deleteExpired(now: Date): Promise<number> {
    return this.#invitations.deleteMany({ expiresAt: { $lte: now } });
  }
}
