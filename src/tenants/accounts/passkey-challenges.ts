import type { Connection } from 'mongoose';
import type { Clock } from '../../infra/clock.ts';
import { type SingleUse, SingleUseStore, singleUseSpec } from './single-use-store.ts';

/** What a passkey has to sign, once. */
interface PasskeyChallenge extends SingleUse {
  /** The person who makes a passkey; absent for a sign-in, of which nobody knows yet whose it is. */
  readonly accountId?: string;
  /** The session or token that asked for it, of a person who makes a passkey. */
  readonly tokenId?: string;
}

const CHALLENGES = singleUseSpec('passkey_challenges', 'accountId');
const CHALLENGE_BYTES = 32;
/** How long a challenge can be signed, in milliseconds. */
export const CHALLENGE_MS = 5 * 60_000;

/** Owns the challenges of passkeys. Only their hashes are stored. */
export class PasskeyChallenges extends SingleUseStore<PasskeyChallenge> {
  /** To be created before the connection's indexes. */
  constructor(connection: Connection, clock: Clock) {
    super(connection, clock, CHALLENGES, CHALLENGE_BYTES);
  }
}
