import { createHash } from 'node:crypto';
import { contextOf, idsOf, type TraceContext } from '../../infra/tracing/trace-context.ts';
import type { Span, Tracing } from '../../infra/tracing/tracing.ts';
import type { Job } from './job.ts';

/** The fields of a claimed job of which the span of its attempt is made. */
export type TracedJob = Pick<
  Job,
  | '_id'
  | 'accountId'
  | 'attempts'
  | 'class'
  | 'createdAt'
  | 'failedAttempts'
  | 'inputMode'
  | 'item'
  | 'pool'
  | 'startedAt'
  | 'trace'
>;

/**
 * The span of an attempt; its id follows from the job and the begin of the attempt. So the next attempt can name it,
 * whichever process makes that one, and a sweep can record it in place of a worker that was lost.
 *
 * @param job in the state processing, of a request that was traced.
 */
export function startAttemptSpan(tracing: Tracing, job: TracedJob, trace: TraceContext): Span {
  const { startedAt, attempts, failedAttempts = [] } = job;
  const previous = failedAttempts.at(-1);
  return tracing.startSpan('attempt', {
    kind: 'consumer',
    parent: trace,
    spanId: spanIdOf(job, startedAt),
    ...(startedAt !== null && { startTime: startedAt.getTime() }),
    attributes: { ...attributesOf(job), 'platen.attempt': attempts },
    links: previous === undefined ? [] : [attemptContext(job, trace, previous.startedAt)],
  });
}

/** What every span of a job says about it: ids, and nothing of the document. */
export function attributesOf({ _id, accountId, class: jobClass, inputMode, item, pool }: TracedJob) {
  return {
    'platen.job.id': _id,
    'platen.account.id': accountId,
    'platen.pool': pool,
    'platen.class': jobClass,
    'platen.mode': inputMode,
    'platen.batch.id': item?.batchId,
  };
}

function attemptContext(job: TracedJob, trace: TraceContext, startedAt: Date): TraceContext {
  const { traceId, sampled } = idsOf(trace)!;
  return contextOf({ traceId, spanId: spanIdOf(job, startedAt), sampled });
}

/** 16 hex digits. */
function spanIdOf({ _id }: Pick<Job, '_id'>, startedAt: Date | null): string {
  return createHash('sha256').update(`attempt/${_id}/${startedAt?.getTime()}`).digest('hex').slice(0, 16);
}
