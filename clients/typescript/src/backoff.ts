export interface Backoff {
  /** Mean of the first pause, in milliseconds. Each pause is twice as long as the one before. */
  readonly firstMs: number;
  /** Longest pause, in milliseconds, but for what the service asks for. */
  readonly longestMs: number;
}

/**
 * How long to wait before the next try: exponential and capped, and random, so that clients which met the same trouble
 * do not come back all at once. Never less than what the service has asked for.
 *
 * @param tries made so far, from 1.
 * @param askedMs the service's Retry-After, in milliseconds.
 */
export function pauseMs({ firstMs, longestMs }: Backoff, tries: number, askedMs = 0): number {
  const mean = Math.min(longestMs, firstMs * 2 ** (tries - 1));
  return askedMs > 0 ? askedMs + Math.random() * firstMs : mean * (0.5 + Math.random());
}

/** Retry-After in milliseconds, from seconds or from a date (RFC 9110, section 10.2.3); undefined without one. */
export function retryAfterMs(response: Response): number | undefined {
  const header = response.headers.get('retry-after')?.trim();
  if (!header) return undefined;
  if (/^\d+$/.test(header)) return Number(header) * 1000;
  const at = Date.parse(header);
  return Number.isNaN(at) ? undefined : Math.max(0, at - Date.now());
}

/** Rejects with the signal's reason as soon as it is aborted. */
export function sleep(ms: number, signal?: AbortSignal | null): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort);
      resolve();
    }, ms);
    if (signal?.aborted) abort();
    else signal?.addEventListener('abort', abort, { once: true });
  });
}
