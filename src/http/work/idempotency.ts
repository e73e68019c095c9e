import { PlatenError } from '../../infra/errors/registry.ts';
import type { Caller } from '../../tenants/accounts/caller.ts';
import type { IdempotencyLock, IdempotencyStore } from '../../work/jobs/idempotency-store.ts';
import type { AnyRequest, AnyResponse } from '../request/route.ts';

/** The work of a route that supports an Idempotency-Key. */
interface RepeatableWork<Reply> {
  /** Does the work; with a key, under the id of the lock. */
  run(lock: IdempotencyLock | undefined): Promise<Reply>;
  /** Repeats the first response from its work. `status` is that of the first response. */
  replay(workId: string, status: number): Promise<Reply>;
}

export interface KeyedRequest extends Pick<AnyRequest, 'route' | 'bodyHash' | 'setHeader' | 'onHangUp'> {
  /** Without a mode when the account itself is authenticated, without a key. */
  readonly caller: Pick<Caller, 'accountId' | 'ownerFence'> & Partial<Pick<Caller, 'mode'>>;
}

/** @throws PlatenError IDEMPOTENCY_MISMATCH; IDEMPOTENCY_IN_PROGRESS; and what the work throws. */
export async function idempotently<Reply extends AnyResponse>(
  request: KeyedRequest,
  key: string | undefined,
  store: IdempotencyStore,
  work: RepeatableWork<Reply>,
): Promise<Reply> {
  if (key === undefined) return work.run(undefined);
  const { caller, route } = request;
  const begun = await store.begin(scopeOf(caller), route, key, request.bodyHash());
  if (begun.kind === 'replay') {
    request.setHeader('Idempotent-Replayed', 'true');
    return work.replay(begun.workId, begun.status);
  }
  let hasHungUp = false;
  request.onHangUp(() => {
    hasHungUp = true;
  });
  const { lock } = begun;
  try {
    const response = await work.run(lock);
    // A response that the caller has not received does not count: the next request waits for the work instead.
    await (hasHungUp ? lock.release() : lock.responded(response.status));
    return response;
  } catch (error) {
    await (hasHungUp ? lock.release() : respondFailure(lock, error)).catch(() => undefined);
    throw error;
  }
}

/**
 * Live and test requests have separate scopes, so that a live request never gets a watermarked PDF; and so has each
 * owner, so that nobody gets the work of whoever had the account before.
 */
function scopeOf({ accountId, mode, ownerFence }: KeyedRequest['caller']): string {
  const owner = ownerFence === undefined ? accountId : `${accountId} ${ownerFence}`;
  return mode === 'test' ? `${owner} test` : owner;
}

/**
 * A rejected request has done nothing, so its key is free again. When the work itself has failed by an error of the
 * document (a status below 500), that response stands; after an error of the service the same request may be retried.
 */
function respondFailure(lock: IdempotencyLock, error: unknown): Promise<void> {
  // An unknown error: the work may have been begun.
  if (!(error instanceof PlatenError)) return lock.release();
  // An error with another job's id, for example of the job to be rendered again, is a rejection.
  if (error.jobId === lock.workId) return error.status < 500 ? lock.responded(error.status) : lock.abandon();
  // Another process may have begun the work before this one took over.
  return lock.resumed ? lock.release() : lock.abandon();
}
