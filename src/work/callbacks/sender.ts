import type { Clock } from '../../infra/clock.ts';
import type { Logger } from '../../infra/telemetry/logger.ts';
import { NO_SPAN, NO_TRACING, type Span, type Tracing } from '../../infra/tracing/tracing.ts';
import type { AccountReader } from '../../tenants/accounts/account-store.ts';
import type { BatchStore } from '../batches/batch-store.ts';
import { AttemptReservations } from './attempt-reservations.ts';
import { bodyOf, type Delivery } from './delivery.ts';
import type { AttemptEnd, DeliveryStore } from './delivery-store.ts';
import type { Post, PostOutcome } from './post.ts';
import { nextDelayMs, retryAfterMs } from './retry-schedule.ts';

import { signatures, standardHeaders } from './signature.ts';
import type { SigningKeys } from './signing-keys.ts';

/** The result of an attempt: `retried` will be sent again, `failed` will not. */
type AttemptOutcome = 'delivered' | 'retried' | 'failed';

export interface CallbackSenderDeps {
  readonly deliveries: DeliveryStore;
  readonly keys: SigningKeys;
  readonly accounts: Pick<AccountReader, 'find'>;
  readonly batches: Pick<BatchStore, 'noteCallback'>;
  readonly post: Post;
  /** The start of addresses in callbacks; while it is not known nothing is sent. */
  readonly publicUrl: () => string | undefined;
  /** The prefix of the service's own headers, such as `X-Service-`. */
  readonly headerPrefix: string;
  readonly clock: Clock;
  /** A number in [0, 1). */
  readonly random: () => number;
  readonly logger: Logger;
  readonly observe: (outcome: AttemptOutcome) => void;
  /** Default: nothing is traced. */
  readonly tracing?: Tracing;
}

/** Deliveries per query. */
const AT_ONCE = 50;
/** Queries of one call; further deliveries are for the next call. */
const MAX_QUERIES = 100;
const GONE = 410;
/** Whoever requested the work named the receiver, and has the account no more. */
const OF_ANOTHER_OWNER: PostOutcome = {
  status: null,
  error: 'Not sent: the work was requested before the owner of the address took the account over.',
};

/**
 * Sends the callbacks that are due. An attempt is noted when it is over: if the process dies before, the delivery is
 * sent again, under the same id, so a receiver gets it at least once and can recognise a repetition.
 */
export class CallbackSender {
  readonly #deps: CallbackSenderDeps;
  readonly #attempts = new AttemptReservations();
  readonly #underWay = new Set<Promise<void>>();
  readonly #stop = new AbortController();
  #stopping = false;
  /** The query for due deliveries that is under way, and whether another is to follow it. */
  #checking: Promise<void> | undefined;
  #again = false;
  /** Whether the last query has found nothing due. */
  #foundNone = false;

  constructor(deps: CallbackSenderDeps) {
    this.#deps = deps;
  }

  /** Starts sending the due deliveries, up to the bounds; the rest follows as attempts end. */
  async send(): Promise<void> {
    this.#again = true;
    while (this.#checking !== undefined) await this.#checking;
    if (!this.#again) return;
    this.#again = false;
    this.#checking = this.#check().finally(() => {
      this.#checking = undefined;
    });
    await this.#checking;
  }

  /** How long the oldest delivery has been due, in milliseconds, not counting accounts and hosts at their bounds. */
  async oldestDueMs(): Promise<number> {
    const { deliveries, clock } = this.#deps;
    if (this.#foundNone) return 0;
    const [oldest] = await deliveries.dueExcept(this.#attempts.busy(), 1);
    return oldest === undefined ? 0 : clock.now().getTime() - oldest.dueAt!.getTime();
  }

  /** Resolves when no attempt is under way. */
  async idle(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.all(this.#underWay);
  }

  /** Starts nothing more; attempts have `graceMs` milliseconds to end, and are then given back. */
  async stop(graceMs: number): Promise<void> {
    this.#stopping = true;
    const timer = setTimeout(() => this.#stop.abort(), graceMs);
    await this.#checking?.catch(() => undefined);
    await this.idle();
    clearTimeout(timer);
  }

  async #check(): Promise<void> {
    const { deliveries, publicUrl } = this.#deps;
    const base = publicUrl();
    this.#foundNone = false;
    if (base === undefined) return;
    for (let queries = 0; queries < MAX_QUERIES && !this.#stopping && this.#attempts.free > 0; queries += 1) {
      const limit = Math.min(this.#attempts.free, AT_ONCE);
      const due = await deliveries.dueExcept(this.#attempts.busy(), limit);
      this.#foundNone = due.length === 0;
      let begun = 0;
      for (const seen of due) begun += (await this.#begin(seen, base)) ? 1 : 0;
      // If no delivery of a full page could be started, others have claimed them: more may follow after it.
      if (begun === 0 && due.length < limit) return;
    }
  }

  async #begin(seen: Delivery, base: string): Promise<boolean> {
    const reservation = this.#stopping ? undefined : this.#attempts.reserve(seen);
    if (reservation === undefined) return false;
    let claimed: Delivery | undefined;
    try {
      claimed = await this.#deps.deliveries.claim(seen);
    } finally {
      if (claimed === undefined) reservation.release();
    }
    if (claimed === undefined) return false;
    const work = this.#attempt(claimed, base)
      .catch((error: unknown) => this.#logLater(error, seen))
      .finally(() => {
        this.#underWay.delete(work);
        reservation.release();
        if (!this.#stopping) this.send().catch((error: unknown) => this.#logLater(error, seen));
      });
    this.#underWay.add(work);
    return true;
  }

  async #attempt(delivery: Delivery, base: string): Promise<void> {
    const { deliveries, keys, accounts, post, headerPrefix, clock } = this.#deps;
    const { _id: deliveryId, url, accountId } = delivery;
    const ownerFence = (await accounts.find(accountId))?.ownerFence;
    if (ownerFence !== delivery.ownerFence) return this.#finishAttempt(delivery, OF_ANOTHER_OWNER);
    const signing = await keys.signing(accountId, ownerFence);
    const body = bodyOf(delivery.payload, base);
    const timestamp = Math.floor(clock.now().getTime() / 1000);
    const secrets = signing.map(({ secret }) => secret);
    const signed = { deliveryId, timestamp, body };
    const span = this.#startSpan(delivery);
    const headers = {
      ...span.context,
      'content-type': 'application/json',
      'user-agent': 'Platen-Callbacks/2',
      [`${headerPrefix}Signature-V2`]: signatures(secrets, signed),
      [`${headerPrefix}Timestamp`]: String(timestamp),
      [`${headerPrefix}Delivery-Id`]: deliveryId,
      [`${headerPrefix}Key-Id`]: signing[0]!.id,
      ...standardHeaders(secrets, signed),
    };
    const outcome = await post({ url, headers, body, signal: this.#stop.signal });
    endSpan(span, outcome);
    // It may have arrived, but that is not known.
    if (outcome.status === null && this.#stop.signal.aborted) return deliveries.release(delivery);
    await this.#finishAttempt(delivery, outcome);
  }

  /** A span of the work's trace, which the receiver may continue; none for work that was not traced. */
  #startSpan({ _id, accountId, payload, attempts, trace }: Delivery): Span {
    const { tracing = NO_TRACING } = this.#deps;
    if (trace === undefined) return NO_SPAN;
    return tracing.startSpan('callback', {
      kind: 'client',
      parent: trace,
      attributes: {
        'platen.account.id': accountId,
        'platen.job.id': payload.jobId,
        'platen.callback.id': _id,
        'platen.callback.event': payload.event,
        'platen.callback.attempt': attempts + 1,
      },
    });
  }

  async #finishAttempt(delivery: Delivery, outcome: PostOutcome): Promise<void> {
    const { deliveries, batches, observe } = this.#deps;
    const end = this.#endOf(delivery, outcome);
    const { event, jobId } = delivery.payload;
    // Before the delivery is finished: after that it would not be repeated.
    if (event === 'batch.completed' && end.state !== 'pending') await batches.noteCallback(jobId, end.state);
    if (await deliveries.finishAttempt(delivery, end))
      observe(end.state === 'pending' ? 'retried' : end.state);
  }

  #endOf({ attempts }: Delivery, outcome: PostOutcome): AttemptEnd {
    const { clock, random } = this.#deps;
    const now = clock.now();
    const { status } = outcome;
    const noted = { lastAttemptAt: now, responseStatus: status };
    if (status !== null && status >= 200 && status < 300)
      return { ...noted, state: 'delivered', error: null };
    const error = status === null ? outcome.error : wordsFor(status);
    const requestedMs = status === null ? undefined : retryAfterMs(outcome.retryAfter, now);
    const isFinal = status === GONE || outcome === OF_ANOTHER_OWNER;
    const delay = isFinal ? undefined : nextDelayMs(attempts + 1, requestedMs, random);
    if (delay === undefined) return { ...noted, state: 'failed', error };
    return { ...noted, state: 'pending', error, dueAt: new Date(now.getTime() + delay) };
  }

  #logLater(error: unknown, { _id }: Delivery): void {
    this.#deps.logger.warn({ err: error, deliveryId: _id }, 'callback left for a later try');
  }
}

/** Without the words of the receiver's error, which may have its address in them. */
function endSpan(span: Span, { status }: PostOutcome): void {
  const isDelivered = status !== null && status >= 200 && status < 300;
  span.end({
    attributes: { 'http.response.status_code': status ?? undefined },
    error: isDelivered ? undefined : String(status ?? 'no response'),
  });
}

function wordsFor(status: number): string {
  if (status === GONE) return 'The receiver is gone for good (410).';
  if (status >= 300 && status < 400) return `Redirects are not followed (${status}).`;
  return `The receiver responded with status ${status}.`;
}
