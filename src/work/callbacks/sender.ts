import type { Core } from '../../infra/core.ts';
import { DueWork } from '../../infra/store/due-work.ts';
import { NO_SPAN, NO_TRACING, type Span, type Tracing } from '../../infra/tracing/tracing.ts';
import type { AccountReader } from '../../tenants/accounts/account-store.ts';
import type { BatchStore } from '../batches/batch-store.ts';
import { AttemptReservations } from './attempt-reservations.ts';
import { bodyOf, type Delivery } from './delivery.ts';
import type { AttemptEnd, DeliveryStore } from './delivery-store.ts';
import type { Post, PostOutcome } from './post.ts';
import { nextDelayMs, retryAfterMs } from './retry-schedule.ts';
import { signedHeaders } from './signature.ts';
import type { SigningKeys } from './signing-keys.ts';

/** The result of an attempt: `retried` will be sent again, `failed` will not. */
type AttemptOutcome = 'delivered' | 'retried' | 'failed';

export interface CallbackSenderDeps extends Pick<Core, 'clock' | 'logger'> {
  readonly deliveries: DeliveryStore;
  readonly keys: SigningKeys;
  readonly accounts: Pick<AccountReader, 'find'>;
  readonly batches: Pick<BatchStore, 'noteCallback'>;
  readonly post: Post;
  /** Makes an attempt in place of a signed post. */
  readonly send?: (delivery: Delivery, signal: AbortSignal) => Promise<PostOutcome>;
  /** The start of addresses in callbacks; while it is not known nothing is sent. */
  readonly publicUrl: () => string | undefined;
  /** The prefix of the service's own headers, such as `X-Service-`. */
  readonly headerPrefix: string;
  /** A number in [0, 1). */
  readonly random: () => number;
  readonly observe: (outcome: AttemptOutcome) => void;
  /** Called once for each result of an attempt that is noted. Default: nobody is told. */
  readonly onAttempt?: (delivery: Delivery, end: AttemptEnd) => void | Promise<void>;
  /** Default: nothing is traced. */
  readonly tracing?: Tracing;
}

/** Deliveries per query. */
const PER_QUERY = 50;
const GONE = 410;
/** Whoever requested the work named the receiver, and has the account no more. */
const OF_ANOTHER_OWNER: PostOutcome = {
  status: null,
  error: 'Not sent: the work was requested before the owner of the address took the account over.',
  final: true,
};

/**
 * Sends the callbacks that are due. An attempt is noted when it is over: if the process dies before, the delivery is
 * sent again, under the same id, so a receiver gets it at least once and can recognise a repetition.
 */
export class CallbackSender {
  readonly #deps: CallbackSenderDeps;
  readonly #attempts = new AttemptReservations();
  readonly #due: DueWork<Delivery>;

  constructor(deps: CallbackSenderDeps) {
    this.#deps = deps;
    const { deliveries, logger } = deps;
    this.#due = new DueWork({
      queue: deliveries,
      perQuery: PER_QUERY,
      bounds: {
        free: () => this.#attempts.free,
        due: (limit) => deliveries.dueExcept(this.#attempts.busy(), limit),
        reserve: (seen) => this.#attempts.reserve(seen),
      },
      attempt: (delivery, signal) => this.#attempt(delivery, signal),
      onError: (err, { _id }) => logger.warn({ err, deliveryId: _id }, 'callback left for a later try'),
    });
  }

  /** Starts sending the due deliveries, up to the bounds; the rest follows as attempts end. @returns whether any were due. */
  async send(): Promise<boolean> {
    if (this.#deps.publicUrl() === undefined) return false;
    await this.#due.keepUp();
    return !this.#due.foundNone;
  }

  /** How long the oldest delivery has been due, in milliseconds, not counting accounts and hosts at their bounds. */
  async oldestDueMs(): Promise<number> {
    const { deliveries, clock } = this.#deps;
    if (this.#due.foundNone) return 0;
    const [oldest] = await deliveries.dueExcept(this.#attempts.busy(), 1);
    return oldest === undefined ? 0 : clock.now().getTime() - oldest.dueAt!.getTime();
  }

  /** Resolves when no attempt is under way. */
  idle(): Promise<void> {
    return this.#due.idle();
  }

  /** Starts nothing more; attempts have `graceMs` milliseconds to end, and are then given back. */
  stop(graceMs: number): Promise<void> {
    return this.#due.stop(graceMs);
  }

  async #attempt(delivery: Delivery, signal: AbortSignal): Promise<void> {
    const { deliveries, accounts, send } = this.#deps;
    const ownerFence = (await accounts.find(delivery.accountId))?.ownerFence;
    if (ownerFence !== delivery.ownerFence) return this.#finishAttempt(delivery, OF_ANOTHER_OWNER);
    const startedAt = performance.now();
    const outcome =
      send === undefined ? await this.#post(delivery, ownerFence, signal) : await send(delivery, signal);
    const durationMs = Math.round(performance.now() - startedAt);
    // It may have arrived, but that is not known.
    if (outcome.status === null && signal.aborted) return deliveries.release(delivery);
    await this.#finishAttempt(delivery, outcome, durationMs);
  }

  async #post(delivery: Delivery, ownerFence: number | undefined, signal: AbortSignal): Promise<PostOutcome> {
    const { keys, post, publicUrl, headerPrefix, clock } = this.#deps;
    const { _id: deliveryId, url, accountId } = delivery;
    const signing = await keys.signing(accountId, ownerFence);
    const body = bodyOf(delivery.payload, publicUrl()!);
    const timestamp = Math.floor(clock.now().getTime() / 1000);
    const span = this.#startSpan(delivery);
    const headers = {
      ...span.context,
      'content-type': 'application/json',
      'user-agent': 'Platen-Callbacks/2',
      ...signedHeaders(signing, { deliveryId, timestamp, body }, headerPrefix),
    };
    const outcome = await post({ url, headers, body, signal });
    endSpan(span, outcome);
    return outcome;
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

  /** @param durationMs of the attempt; absent when none was made. */
  async #finishAttempt(delivery: Delivery, outcome: PostOutcome, durationMs?: number): Promise<void> {
    const { deliveries, batches, observe, onAttempt } = this.#deps;
    const response = outcome.status === null ? undefined : outcome.kept;
    const attempt = { ...(durationMs !== undefined && { durationMs }), ...(response && { response }) };
    const end = { ...this.#endOf(delivery, outcome), attempt };
    const { event, jobId } = delivery.payload;
    // Before the delivery is finished: after that it would not be repeated.
    if (event === 'batch.completed' && end.state !== 'pending') await batches.noteCallback(jobId, end.state);
    if (!(await deliveries.finishAttempt(delivery, end))) return;
    observe(end.state === 'pending' ? 'retried' : end.state);
    if (outcome !== OF_ANOTHER_OWNER) await onAttempt?.(delivery, end);
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
    const isFinal = status === null ? outcome.final === true : status === GONE;
    const delay = isFinal ? undefined : nextDelayMs(attempts + 1, requestedMs, random);
    if (delay === undefined) return { ...noted, state: 'failed', error };
    return { ...noted, state: 'pending', error, dueAt: new Date(now.getTime() + delay) };
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
