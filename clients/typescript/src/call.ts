import type { WaitOptions } from './call-options.ts';
import { PlatenAbortError, PlatenDeadlineError, PlatenError } from './errors.ts';

/** How long a call that was aborted goes on to cancel its job, in milliseconds. */
const CANCEL_WITHIN_MS = 5000;

/** One call of a method, which may take many requests. */
export interface Call {
  /** Aborted with the caller's signal, and when the time is over. */
  readonly signal: AbortSignal | undefined;
  /** The job or batch, once it is known. */
  jobId: string | undefined;
  /** Cancels what the call has begun; undefined as long as there is nothing to cancel. */
  cancel?: (signal: AbortSignal) => Promise<unknown>;
}

/**
 * Runs a call within its signal and its time.
 *
 * @param jobId where it is known from the start.
 * @throws PlatenAbortError, PlatenDeadlineError; whatever else the work fails with. Each names the job, once it is known.
 */
export async function within<T>(
  { signal, timeoutMs, cancelOnAbort = false }: WaitOptions,
  work: (call: Call) => Promise<T>,
  jobId?: string,
): Promise<T> {
  if (signal === undefined && timeoutMs === undefined) {
    const call: Call = { signal, jobId };
    return await work(call).catch((error: unknown) => {
      throw naming(error, call);
    });
  }
  const controller = new AbortController();
  const onAbort = () => controller.abort(signal?.reason);
  if (signal?.aborted) onAbort();
  signal?.addEventListener('abort', onAbort);
  const deadline =
    timeoutMs === undefined
      ? undefined
      : setTimeout(() => controller.abort(new PlatenDeadlineError(timeoutMs, undefined)), timeoutMs);
  const call: Call = { signal: controller.signal, jobId };
  try {
    return await work(call);
  } catch (error) {
    const { aborted, reason } = controller.signal;
    // What has come just before the abort is the outcome.
    if (!aborted || (error instanceof PlatenError && !isAbort(error))) throw naming(error, call);
    if (cancelOnAbort && call.cancel !== undefined) await briefly(call.cancel);
    throw reason instanceof PlatenDeadlineError
      ? naming(reason, call)
      : new PlatenAbortError(reason, call.jobId);
  } finally {
    clearTimeout(deadline);
    signal?.removeEventListener('abort', onAbort);
  }
}

/** Of this call, or of one that it has made. */
function isAbort(error: unknown): boolean {
  return error instanceof PlatenAbortError || error instanceof PlatenDeadlineError;
}

function naming(error: unknown, { jobId }: Call): unknown {
  if (error instanceof PlatenError) error.jobId ??= jobId;
  return error;
}

/** As well as it can be done: the caller is told of its abort in any case. */
async function briefly(cancel: (signal: AbortSignal) => Promise<unknown>): Promise<void> {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), CANCEL_WITHIN_MS);
  await cancel(controller.signal).catch(() => undefined);
  clearTimeout(timer);
}
