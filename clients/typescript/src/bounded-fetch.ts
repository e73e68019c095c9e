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

/** Requests under way: without them the garbage collector takes what leads from a signal to the connection. */
const open = new Set<Request>();
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
  { answerTimeoutMs: responseTimeoutMs, silenceTimeoutMs }: AttemptBounds,
  body?: ArrayBuffer,
): Promise<Response> {
  const connection = new AbortController();
  const onAbort = () => {
    end();
    connection.abort(request.signal.reason);
  };
  request.signal.throwIfAborted();
  request.signal.addEventListener('abort', onAbort);
  const sent = new Request(request, { signal: connection.signal, ...(body !== undefined && { body }) });
  const end = () => {
    request.signal.removeEventListener('abort', onAbort);
    open.delete(sent);
  };
  open.add(sent);

  const within = async <T>(step: Promise<T>, what: string, ms: number): Promise<T> => {
    let onEnd = () => {};
    const ended = new Promise<never>((_, reject) => {
      onEnd = () => reject(connection.signal.reason);
    });
    connection.signal.addEventListener('abort', onEnd);
    const timer = setTimeout(() => connection.abort(new SilenceError(what, ms)), ms);
    try {
      return await Promise.race([step, ended]);
    } catch (error) {
      end();
      throw error;
    } finally {
      clearTimeout(timer);
      connection.signal.removeEventListener('abort', onEnd);
    }
  };
  const uploadMs = Math.min(LONGEST_UPLOAD_MS, Math.ceil((body?.byteLength ?? 0) / LEAST_BYTES_PER_MS));
  const response = await within(fetchOnce(sent), 'No answer', responseTimeoutMs + uploadMs);
  if (response.body === null) {
    end();
    return response;
  }
  const reader = response.body.getReader();
  // Nothing is read ahead: who reads slowly is not taken for a silence.
  const guarded = new ReadableStream<Uint8Array<ArrayBuffer>>(
    {
      async pull(controller) {
        const { value } = await within(reader.read(), 'Nothing more of the answer', silenceTimeoutMs);
        if (value !== undefined) return controller.enqueue(value);
        end();
        controller.close();
      },
      cancel: (reason) => {
        end();
        return reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
  const { status, statusText, headers } = response;
  return new Response(guarded, { status, statusText, headers });
}
