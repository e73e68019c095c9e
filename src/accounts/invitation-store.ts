import { createHash, randomBytes } from 'node:crypto';
import type { Connection } from 'mongoose';
import type { Clock } from '../clock.ts';
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

/** Owns the invitations. Their codes are shown once, and not kept. */
export class InvitationStore {
  readonly #invitations: Collection<Invitation>;
  readonly #clock: Clock;

  constructor(connection: Connection, clock: Clock) {
    this.#invitations = new Collection(connection, INVITATIONS);
    this.#clock = clock;
  }

  /** @param lifeMs how long it can be used, in milliseconds. */
  async create(plan: PlanName, lifeMs: number): Promise<{ code: string; invitation: Invitation }> {
    const code = randomBytes(CODE_BYTES).toString('base64url');
    const createdAt = this.#clock.now();
    const expiresAt = new Date(createdAt.getTime() + lifeMs);
    const invitation: Invitation = { _id: hashOf(code), plan, createdAt, expiresAt };
    await this.#invitations.insert(invitation);
    return { code, invitation };
  }

  /** Uses an invitation up. @returns undefined when there is none with this code, or no longer. */
  async take(code: string): Promise<Invitation | undefined> {
    const invitation = await this.#invitations.findById(hashOf(code));
    if (invitation === undefined || invitation.expiresAt <= this.#clock.now()) return undefined;
    // Of two who take it at the same moment one deletes it.
    return (await this.#invitations.deleteOne({ _id: invitation._id })) ? invitation : undefined;
  }

  /** Nothing came of what it was taken for. */
  async giveBack(invitation: Invitation): Promise<void> {
    await this.#invitations.insertIfAbsent(invitation);
  }

  /** @returns how many there were. */
  deleteExpired(now: Date): Promise<number> {
    return this.#invitations.deleteMany({ expiresAt: { $lte: now } });
  }
}

function hashOf(code: string): string {
  return createHash('sha256').update(code).digest('hex');
}
