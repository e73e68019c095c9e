import type { Connection } from 'mongoose';
import type { Clock } from '../clock.ts';
import { Collection, type CollectionSpec } from '../store/collection.ts';
import type { Mail, NewMail } from './mail.ts';

const KEPT_MS = 90 * 24 * 3_600_000;
/** Of so many mails that wait, those that are due first, the oldest is looked for. */
const MOST_LOOKED_AT = 1_000;

const MAILS: CollectionSpec = {
  name: 'mails',
  indexes: [{ fields: { due: 1 }, sparse: true }, { fields: { createdAt: 1 } }],
};

/** What came of an attempt; with `due` it is to be repeated. */
export type MailEnd = { readonly error?: string } & (
  | { readonly state: 'waiting'; readonly due: Date }
  | { readonly state: 'sent' | 'failed' }
);

/**
 * Owns the mails: what is to be sent is written here before anything else follows from it, and stays for 90 days, so that
 * whoever repeats his work after a crash does not have a mail sent twice.
 *
 *     waiting ─claim→ (taken until its lease ends) ─finishAttempt→ sent | failed | waiting, later
 */
export class MailOutbox {
  readonly #mails: Collection<Mail>;
  readonly #clock: Clock;

  /** To be made before the connection's indexes are. */
  constructor(connection: Connection, clock: Clock) {
    this.#mails = new Collection<Mail>(connection, MAILS);
    this.#clock = clock;
  }

  /** Durable when it resolves. A mail that is known by its id stays as it is, whatever has become of it. */
  async enqueue({ id, accountId, to, kind, values }: NewMail): Promise<void> {
    const now = this.#clock.now();
    // A kind and its values belong together; apart the compiler cannot tell.
    const content = { kind, values };
    const waiting = { state: 'waiting', due: now, attempts: 0, version: 1, createdAt: now } as const;
    await this.#mails.insertAbsent([{ _id: id, accountId, to, content, ...waiting }]);
  }

  find(id: string): Promise<Mail | undefined> {
    return this.#mails.findById(id);
  }

  /** Some that are to be sent now, the longest due first. */
  due(limit: number): Promise<Mail[]> {
    return this.#mails.find({ due: { $lte: this.#clock.now() } }, { sort: { due: 1 }, limit });
  }

  /**
   * Takes a mail for `ms` milliseconds; when nothing is heard of whoever took it by then, it is due again.
   *
   * @returns undefined when somebody else has taken it.
   */
  claim({ _id, version }: Mail, ms: number): Promise<Mail | undefined> {
    const due = new Date(this.#clock.now().getTime() + ms);
    return this.#mails.findOneAndUpdate({ _id, version }, { $set: { due }, $inc: { version: 1 } });
  }

  /** Notes what came of a claimed mail. @returns false when it was taken by somebody else meanwhile. */
  finishAttempt({ _id, version }: Mail, end: MailEnd): Promise<boolean> {
    const error = end.error === undefined ? {} : { error: end.error };
    const changed = { $inc: { attempts: 1, version: 1 } };
    if (end.state === 'waiting')
      return this.#mails.updateOne({ _id, version }, { ...changed, $set: { due: end.due, ...error } });
    const ended = { state: end.state, endedAt: this.#clock.now(), ...error };
    return this.#mails.updateOne({ _id, version }, { ...changed, $set: ended, $unset: { due: '' } });
  }

  /** How many are to be sent, and for how long the oldest has been waiting: milliseconds, 0 without any. */
  async waiting(): Promise<{ count: number; oldestMs: number }> {
    const ever = { due: { $gt: new Date(0) } };
    const count = await this.#mails.count(ever);
    const some = await this.#mails.find(ever, {
      projection: { createdAt: 1 },
      sort: { due: 1 },
      limit: MOST_LOOKED_AT,
    });
    const now = this.#clock.now().getTime();
    const oldest = Math.min(now, ...some.map(({ createdAt }) => createdAt.getTime()));
    return { count, oldestMs: now - oldest };
  }

  /** @returns how many there were. */
  deleteOld(now: Date): Promise<number> {
    return this.#mails.deleteMany({ createdAt: { $lt: new Date(now.getTime() - KEPT_MS) } });
  }
}
