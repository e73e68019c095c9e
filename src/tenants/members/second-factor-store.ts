import { randomBytes } from 'node:crypto';
import type { Connection } from 'mongoose';
import type { Clock } from '../../infra/clock.ts';
import { hashSecret } from '../../infra/ids/hash-secret.ts';
import { Collection, type CollectionSpec } from '../../infra/store/collection.ts';
import { base32, matchingStep } from './totp.ts';

/** What a person can give as a second factor besides a passkey. */
interface SecondFactor {
  /** The person. */
  readonly _id: string;
  /**
   * The secret of the authenticator app, base64: codes can only be checked with the secret itself. Absent for a person
   * with passkeys alone.
   */
  readonly secret?: string;
  readonly createdAt: Date;
  /** When the first code was given; absent until then: the app does not count. */
  readonly confirmedAt?: Date;
  /** The step of the last code that was accepted: each code works once. */
  readonly lastStep?: number;
  /** Hex SHA-256 of the recovery codes that are left, for whoever has lost app and passkeys. */
  readonly recoveryCodes: readonly string[];
  /** Of the person's record when it was made. It counts with that fence only. */
  readonly ownerFence: number;
}

/** A person as a second factor knows one. */
interface Person {
  readonly _id: string;
  readonly ownerFence?: number;
}

const SECRET_BYTES = 20;
const RECOVERY_CODES = 10;
/** 50 bits: far beyond what the bound of failures lets anybody try. */
const RECOVERY_CODE = /^[A-Z2-7]{10}$/;

const APP = { secret: '', confirmedAt: '', lastStep: '' } as const;
const FACTORS: CollectionSpec = { name: 'second_factors', account: '_id' };

/** Owns the second factors: secrets of authenticator apps, and recovery codes. */
export class SecondFactorStore {
  readonly #factors: Collection<SecondFactor>;
  readonly #clock: Clock;

  /** To be created before the connection's indexes. */
  constructor(connection: Connection, clock: Clock) {
    this.#factors = new Collection(connection, FACTORS);
    this.#clock = clock;
  }

  /** App and recovery codes of the person. The app counts once it is confirmed. */
  async find({ _id, ownerFence = 0 }: Person): Promise<SecondFactor | undefined> {
    const found = await this.#factors.findById(_id);
    return found?.ownerFence === ownerFence ? found : undefined;
  }

  /** A new secret, in place of one that was not confirmed. To be called for a person without an app. */
  async begin({ _id, ownerFence = 0 }: Person): Promise<Buffer> {
    const secret = randomBytes(SECRET_BYTES);
    const isKnown = (await this.find({ _id, ownerFence })) !== undefined;
    const fields = {
      secret: secret.toString('base64'),
      createdAt: this.#clock.now(),
      lastStep: 0,
      // Those of a person with passkeys stay until the app is confirmed.
      ...(!isKnown && { recoveryCodes: [], ownerFence }),
    };
    await this.#factors.upsert(_id, { $set: fields, $unset: { confirmedAt: '' } });
    return secret;
  }

  /** Puts the begun factor in force by its first code. @returns the recovery codes; undefined for a wrong code. */
  async confirm({ _id, ownerFence = 0 }: Person, code: string): Promise<string[] | undefined> {
    const begun = await this.#factors.findById(_id);
    const now = this.#clock.now();
    if (begun?.secret === undefined || begun.confirmedAt !== undefined || begun.ownerFence !== ownerFence)
      return undefined;
    const step = matchingStep(Buffer.from(begun.secret, 'base64'), code, now);
    if (step === undefined) return undefined;
    const { codes, hashes } = newRecoveryCodes();
    const confirmed = await this.#factors.updateOne(
      { _id, secret: begun.secret, confirmedAt: { $exists: false } },
      { $set: { confirmedAt: now, lastStep: step, recoveryCodes: hashes } },
    );
    return confirmed ? codes : undefined;
  }

  /** Uses up a code of the app or a recovery code. @returns false for a code that is wrong or was used. */
  async use({ _id, secret, confirmedAt }: SecondFactor, given: string): Promise<boolean> {
    const code = given.replace(/[\s-]/g, '').toUpperCase();
    const step =
      secret === undefined || confirmedAt === undefined
        ? undefined
        : matchingStep(Buffer.from(secret, 'base64'), code, this.#clock.now());
    // When two requests give the same code at once, only one of them changes the record.
    if (secret !== undefined && step !== undefined)
      return this.#factors.updateOne({ _id, secret, lastStep: { $lt: step } }, { $set: { lastStep: step } });
    if (!RECOVERY_CODE.test(code)) return false;
    const hash = hashSecret(code);
    return this.#factors.updateOne({ _id, recoveryCodes: hash }, { $pull: { recoveryCodes: hash } });
  }

  /** New recovery codes in place of all former ones, also for a person with passkeys alone. */
  async renewRecoveryCodes({ _id, ownerFence = 0 }: Person): Promise<string[]> {
    const { codes, hashes } = newRecoveryCodes();
    const isKnown = (await this.find({ _id, ownerFence })) !== undefined;
    await this.#factors.upsert(_id, {
      $set: { recoveryCodes: hashes, ownerFence },
      $setOnInsert: { createdAt: this.#clock.now() },
      // An app of whoever had the record before.
      ...(!isKnown && { $unset: APP }),
    });
    return codes;
  }

  /** Removes the app; the recovery codes stay. */
  async removeApp({ _id }: Person): Promise<void> {
    await this.#factors.updateOne({ _id }, { $unset: APP });
  }

  async remove({ _id }: Person): Promise<void> {
    await this.#factors.deleteOne({ _id });
  }
}

function newRecoveryCodes() {
  const codes = Array.from({ length: RECOVERY_CODES }, () => base32(randomBytes(8)).slice(0, 10));
  return {
    codes: codes.map((code) => `${code.slice(0, 5)}-${code.slice(5)}`),
    hashes: codes.map(hashSecret),
  };
}
