import type { BatchStore } from '../batches/batch-store.ts';
import type { Clock } from '../clock.ts';
import type { Logger } from '../telemetry/logger.ts';
import { bodyOf, type Delivery } from './delivery.ts';
import type { AttemptEnd, DeliveryStore, DueEntry } from './delivery-store.ts';
import type { Post, PostOutcome } from './post.ts';
import { nextDelayMs, retryAfterMs } from './schedule.ts';
import { SHARES, type ShareLimits, Shares } from './shares.ts';
import { signatures } from './signature.ts';
import type { SigningKeys } from './signing-keys.ts';

/** What came of an attempt: `retried` will be sent again, `failed` will not. */
export type AttemptOutcome = 'delivered' | 'retried' | 'failed';

export interface CallbackSenderParts {
  readonly deliveries: DeliveryStore;
  readonly keys: SigningKeys;
  readonly batches: Pick<BatchStore, 'noteCallback'>;
  readonly post: Post;
  /** What addresses in callbacks start with; while it is not known nothing is sent. */
  readonly publicUrl: () => string | undefined;
  /** Of the service's own headers, such as `X-Service-`. */
  readonly headerPrefix: string;
  readonly clock: Clock;
  /** A number in [0, 1). */
  readonly random: () => number;
  readonly logger: Logger;
  readonly observe: (outcome: AttemptOutcome) => void;
  readonly shares?: ShareLimits;
}

/** Longer than an attempt and its notes take. Whoever has not finished one by then is dead. */
const LEASE_MS = 30_000;
/** Deliveries that are looked for together. */
const AT_ONCE = 50;
/** Looks of one turn; what is left then is for the next. */
const MOST_TURNS = 100;
const GONE = 410;

/**
 * Sends the callbacks that are due. An attempt is noted when it is over: whoever dies before that leaves the delivery to
 * be sent again, under the same id, so a receiver gets it at least once and can tell that it has it.
 */
export class CallbackSender {
  readonly #parts: CallbackSenderParts;
  readonly #shares: Shares;
  readonly #underWay = new Set<Promise<void>>();
  readonly #stop = new AbortController();
  #stopping = false;
  /** The look for due deliveries that is under way, and whether another is to follow it. */
  #looking: Promise<void> | undefined;
  #again = false;
  /** Whether the last look has found nothing that is due. */
  #foundNone = false;

  constructor(parts: CallbackSenderParts) {
    this.#parts = parts;
    this.#shares = new Shares(parts.shares ?? SHARES);
  }

  /** Begins to send what is due, as far as there is room; the rest follows as attempts end. */
  async send(): Promise<void> {
    this.#again = true;
    while (this.#looking !== undefined) await this.#looking;
    if (!this.#again) return;
    this.#again = false;
    this.#looking = this.#look().finally(() => {
      this.#looking = undefined;
    });
    await this.#looking;
  }

  /** For how long the oldest delivery has been due that is not kept back by its own account or host: milliseconds. */
  async oldestDueMs(): Promise<number> {
    const { deliveries, clock } = this.#parts;
    if (this.#foundNone) return 0;
    const [oldest] = await deliveries.due(this.#shares.busy(), 1);
    return oldest === undefined ? 0 : Math.max(0, clock.now().getTime() - oldest.due.getTime());
  }

  /** Resolves when no attempt is under way. */
  async idle(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.all(this.#underWay);
  }

  /** Begins nothing more; attempts have `graceMs` milliseconds to end, and are then given back. */
  async stop(graceMs: number): Promise<void> {
    this.#stopping = true;
    const timer = setTimeout(() => this.#stop.abort(), graceMs);
    await this.#looking?.catch(() => undefined);
    await this.idle();
    clearTimeout(timer);
  }

  async #look(): Promise<void> {
    const { deliveries, publicUrl } = this.#parts;
    const base = publicUrl();
    this.#foundNone = false;
    if (base === undefined) return;
    for (let turns = 0; turns < MOST_TURNS && !this.#stopping && this.#shares.free > 0; turns += 1) {
      const limit = Math.min(this.#shares.free, AT_ONCE);
      const due = await deliveries.due(this.#shares.busy(), limit);
      this.#foundNone = due.length === 0;
      let begun = 0;
      for (const entry of due) begun += (await this.#begin(entry, base)) ? 1 : 0;
      // A whole page of which none could be begun was put right, or is others' by now: more may stand behind it.
      if (begun === 0 && due.length < limit) return;
    }
  }

  async #begin(seen: DueEntry, base: string): Promise<boolean> {
    if (this.#stopping || !this.#shares.take(seen)) return false;
    let claimed: Delivery | undefined;
    try {
      claimed = await this.#parts.deliveries.claim(seen, LEASE_MS);
    } finally {
      if (claimed === undefined) this.#shares.giveBack(seen);
    }
    if (claimed === undefined) return false;
    const work = this.#attempt(claimed, base)
      .catch((error: unknown) => this.#logLater(error, seen))
      .finally(() => {
        this.#underWay.delete(work);
        this.#shares.giveBack(seen);
        if (!this.#stopping) this.send().catch((error: unknown) => this.#logLater(error, seen));
      });
    this.#underWay.add(work);
    return true;
  }

  async #attempt(delivery: Delivery, base: string): Promise<void> {
    const { deliveries, keys, post, headerPrefix, clock } = this.#parts;
    const { _id: deliveryId, url } = delivery;
    const signing = await keys.signing(delivery.accountId);
    const body = bodyOf(delivery.payload, base);
    const timestamp = Math.floor(clock.now().getTime() / 1000);
    const secrets = signing.map(({ secret }) => secret);
    const headers = {
      'content-type': 'application/json',
      'user-agent': 'Platen-Callbacks/2',
      [`${headerPrefix}Signature-V2`]: signatures(secrets, { deliveryId, timestamp, body }),
      [`${headerPrefix}Timestamp`]: String(timestamp),
      [`${headerPrefix}Delivery-Id`]: deliveryId,
      [`${headerPrefix}Key-Id`]: signing[0]!.id,
    };
    const outcome = await post({ url, headers, body, signal: this.#stop.signal });
    // It may have got there, but that is not known.
    if (outcome.status === null && this.#stop.signal.aborted) return deliveries.release(delivery);
    await this.#finishAttempt(delivery, outcome);
  }

  async #finishAttempt(delivery: Delivery, outcome: PostOutcome): Promise<void> {
    const { deliveries, batches, observe } = this.#parts;
    const end = this.#endOf(delivery, outcome);
    const { event, jobId } = delivery.payload;
    // Before the delivery is over: after that nobody would come back to it.
    if (event === 'batch.completed' && end.state !== 'pending') await batches.noteCallback(jobId, end.state);
    if (await deliveries.finishAttempt(delivery, end))
      observe(end.state === 'pending' ? 'retried' : end.state);
  }

  #endOf({ attempts }: Delivery, outcome: PostOutcome): AttemptEnd {
    const { clock, random } = this.#parts;
    const now = clock.now();
    const { status } = outcome;
    const noted = { lastAttemptAt: now, responseStatus: status };
    if (status !== null && status >= 200 && status < 300)
      return { ...noted, state: 'delivered', error: null };
    const error = status === null ? outcome.error : wordsFor(status);
    const asked = status === null ? undefined : retryAfterMs(outcome.retryAfter, now);
    const delay = status === GONE ? undefined : nextDelayMs(attempts + 1, asked, random);
    if (delay === undefined) return { ...noted, state: 'failed', error };
    return { ...noted, state: 'pending', error, due: new Date(now.getTime() + delay) };
  }

  #logLater(error: unknown, { _id }: DueEntry): void {
    this.#parts.logger.warn({ err: error, deliveryId: _id }, 'callback left to its next turn');
  }
}

function wordsFor(status: number): string {
  if (status === GONE) return 'The receiver is gone for good (410).';
  if (status >= 300 && status < 400) return `Redirects are not followed (${status}).`;
  return `The receiver answered ${status}.`;
}
