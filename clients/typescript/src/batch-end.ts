import type { Stream } from './api.ts';
import { type Backoff, pauseMs, sleep } from './backoff.ts';
import { type AttemptBounds, SilenceError } from './bounded-fetch.ts';
import type { WaitOptions } from './call-options.ts';
import { serverEvents } from './event-source.ts';
import type { BatchProgress, BatchSummary } from './generated/schema.ts';

/** How a batch stands at a moment. */
export interface BatchStanding {
  readonly jobId: string;
  readonly status: BatchSummary['status'];
  readonly progress: BatchProgress;
  readonly estimatedCompletionTime: string | null;
}

export interface BatchWaitOptions extends WaitOptions {
  /** Told whenever items have ended. */
  readonly onProgress?: ((standing: BatchStanding) => void) | undefined;
}

/**
 * The service says something every 15 seconds, and how things stand at once. Where there is neither an answer nor an event
 * something in between holds them back.
 */
const EVENTS_BOUNDS: AttemptBounds = { answerTimeoutMs: 35_000, silenceTimeoutMs: 35_000 };

/** Whom to report to, and for how long. */
type Standings = Pick<BatchWaitOptions, 'signal' | 'onProgress'>;

interface Following {
  lastEventId: string | undefined;
  /** Whether events can be had, as far as is known. */
  usesEvents: boolean;
  /** What `onProgress` was told last. */
  lastReported: string;
}

/**
 * The batch once all of its items have ended: by the service's events where they can be had, else by looking again and again.
 *
 * @param get the batch as it stands, without its items.
 * @throws what `get` throws; the reason of the signal.
 */
export async function endOfBatch(
  batchId: string,
  get: () => Promise<BatchSummary>,
  { stream, polling }: { readonly stream: Stream; readonly polling: Backoff },
  options: Standings,
): Promise<BatchSummary> {
  const following: Following = { lastEventId: undefined, usesEvents: true, lastReported: '' };
  for (let checks = 1; ; checks += 1) {
    const before = following.lastEventId;
    if (following.usesEvents) await follow(batchId, stream, following, options);
    if (following.lastEventId !== before) checks = 1;
    const batch = await get();
    report(batch, following, options);
    if (batch.finishedAt !== null) return batch;
    await sleep(pauseMs(polling, checks), options.signal);
  }
}

/** Follows the events of a batch over one connection, for as long as that lasts. Whatever ends it, `get` says more. */
async function follow(
  batchId: string,
  stream: Stream,
  following: Following,
  options: Standings,
): Promise<void> {
  const path = `/v1/pdf/batch/${encodeURIComponent(batchId)}/events`;
  const { lastEventId } = following;
  const connection = new AbortController();
  const signals = options.signal === undefined ? [connection.signal] : [connection.signal, options.signal];
  const headers: Record<string, string> = lastEventId === undefined ? {} : { 'Last-Event-ID': lastEventId };
  try {
    const response = await stream(path, headers, AbortSignal.any(signals), EVENTS_BOUNDS);
    if (!isEventStream(response)) {
      following.usesEvents = response.status === 429 || response.status >= 500;
      return;
    }
    for await (const event of serverEvents(response.body!)) {
      following.lastEventId = event.id;
      report(JSON.parse(event.data) as BatchStanding, following, options);
      if (event.name === 'end') return;
    }
  } catch (error) {
    options.signal?.throwIfAborted();
    if (error instanceof SilenceError && following.lastEventId === undefined) following.usesEvents = false;
  } finally {
    connection.abort();
  }
}

function isEventStream({ ok, headers, body }: Response): boolean {
  return ok && body !== null && /^text\/event-stream\b/.test(headers.get('content-type') ?? '');
}

/** Reports how a batch stands, unless no item has ended since the last time. */
function report(standing: BatchStanding, following: Following, { onProgress }: Standings): void {
  const { jobId, status, progress, estimatedCompletionTime } = standing;
  const hasEnded = status !== 'queued' && status !== 'processing';
  const reported = `${hasEnded} ${progress.completed} ${progress.failed}`;
  if (reported === following.lastReported) return;
  following.lastReported = reported;
  onProgress?.({ jobId, status, progress, estimatedCompletionTime });
}
