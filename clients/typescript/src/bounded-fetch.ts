export type Fetch = (request: Request) => Promise<Response>;

/** How long one attempt may be without a sign of life. */
export interface AttemptBounds {
  /**
   * An attempt whose answer has not begun by then is given up, in milliseconds. One with a body has as much longer as that
   * may take on its way, at 8 KiB a second and for a minute at most: the service takes no slower one.
   */
  readonly answerTimeoutMs: number;
  /** An answer that has begun, and then brings nothing for so long, is given up, in milliseconds. */
  readonly silenceTimeoutMs: number;
}

const LEAST_BYTES_PER_MS = 8.192;
const LONGEST_UPLOAD_MS = 60_000;

/** A connection that brought nothing for too long, and was closed. */
export class SilenceError extends Error {
  constructor(what: string, ms: number) {
    super(`${what} within ${ms} ms.`);
    this.name = 'SilenceError';
  }
}

/**
 * Sends a request once. Whatever is silent for too long is broken off, which closes its connection: one that was kept to
 * a server which is no more is not used a second time.
 *
 * @param body of the request, if it has one; the request's own may be used up.
 * @returns the answer as soon as it has begun; reading its body fails when that falls silent.
 * @throws SilenceError; whatever else breaks the connection; the reason of the request's own signal.
 */
export async function boundedFetch(
  fetchOnce: Fetch,
  request: Request,
  { answerTimeoutMs, silenceTimeoutMs }: AttemptBounds,
  body?: ArrayBuffer,
): Promise<Response> {
  const connection = new AbortController();
  const within = async <T>(step: Promise<T>, what: string, ms: number): Promise<T> => {
    const timer = setTimeout(() => connection.abort(new SilenceError(what, ms)), ms);
    try {
      return await step;
    } catch (error) {
      request.signal.throwIfAborted();
      throw connection.signal.aborted ? connection.signal.reason : error;
    } finally {
      clearTimeout(timer);
    }
  };
  const signal = AbortSignal.any([request.signal, connection.signal]);
  const sent = fetchOnce(new Request(request, { signal, ...(body !== undefined && { body }) }));
  const uploadMs = Math.min(LONGEST_UPLOAD_MS, Math.ceil((body?.byteLength ?? 0) / LEAST_BYTES_PER_MS));
  const answer = await within(sent, 'No answer', answerTimeoutMs + uploadMs);
  if (answer.body === null) return answer;
  const reader = answer.body.getReader();
  // Nothing is read ahead: who reads slowly is not taken for a silence.
  const guarded = new ReadableStream<Uint8Array<ArrayBuffer>>(
    {
      async pull(controller) {
        const { value } = await within(reader.read(), 'Nothing more of the answer', silenceTimeoutMs);
        if (value === undefined) controller.close();
        else controller.enqueue(value);
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
  const { status, statusText, headers } = answer;
  return new Response(guarded, { status, statusText, headers });
}
