import type { Caller } from '../accounts/caller.ts';
import { PlatenError } from '../errors/registry.ts';
import type { IdempotencyLock, IdempotencyStore } from '../idempotency/idempotency-store.ts';
import type { AnyAnswer, RouteRequest } from './route.ts';

/** What a route does under an Idempotency-Key. */
export interface RepeatableWork<Answer> {
  /** Does the work, under the id that the lock names if there is a key. */
  run(lock: IdempotencyLock | undefined): Promise<Answer>;
  /** Gives the first answer again, from the work that it was about. `status` is the one it had. */
  replay(workId: string, status: number): Promise<Answer>;
}

type KeyedRequest = Pick<
  RouteRequest<'apiKey', undefined, undefined, undefined, undefined>,
  'caller' | 'route' | 'bodyHash' | 'setHeader' | 'onHangUp'
>;

/**
 * Does a request's work once for its Idempotency-Key, or simply does it when there is none.
 *
 * @throws PlatenError IDEMPOTENCY_MISMATCH; IDEMPOTENCY_IN_PROGRESS; and what the work throws.
 */
export async function idempotently<Answer extends AnyAnswer>(
  request: KeyedRequest,
  key: string | undefined,
  store: IdempotencyStore,
  work: RepeatableWork<Answer>,
): Promise<Answer> {
  if (key === undefined) return work.run(undefined);
  const { caller, route } = request;
  const begun = await store.begin(scopeOf(caller), route, key, request.bodyHash());
  if (begun.kind === 'replay') {
    request.setHeader('Idempotent-Replayed', 'true');
    return work.replay(begun.workId, begun.status);
  }
  let callerIsGone = false;
  request.onHangUp(() => {
    callerIsGone = true;
  });
  const { lock } = begun;
  try {
    const answer = await work.run(lock);
    // An answer that nobody got is not the first answer: the next request waits for the work in its place.
    await (callerIsGone ? lock.release() : lock.answered(answer.status));
    return answer;
  } catch (error) {
    await (callerIsGone ? lock.release() : answerFailure(lock, error)).catch(() => undefined);
    throw error;
  }
}

/** A live request is never answered with the watermarked PDF of a test, nor the other way round. */
function scopeOf({ accountId, mode }: Pick<Caller, 'accountId' | 'mode'>): string {
  return mode === 'test' ? `${accountId} test` : accountId;
}

/**
 * A refusal has done nothing, so the key is free again. Work that was done and failed is answered for: with the
 * document's fault that answer stands; after a fault of ours the same request may be tried anew, as its status says.
 */
function answerFailure(lock: IdempotencyLock, error: unknown): Promise<void> {
  // It is not known how far the work got.
  if (!(error instanceof PlatenError)) return lock.release();
  if (error.jobId !== undefined) return error.status < 500 ? lock.answered(error.status) : lock.abandon();
  // Another process may have begun the work before this one took over.
  return lock.resumed ? lock.release() : lock.abandon();
}
