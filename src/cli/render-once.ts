import { setTimeout as sleep } from 'node:timers/promises';
import { PlatenClient, PlatenError, PlatenJobError } from '../../clients/typescript/src/index.ts';
import { CommandError } from './command-error.ts';
import { innermostCause } from './open-client.ts';

const PAUSE_MS = 1000;
const HTML =
  '<!doctype html><title>Platen</title><h1>It works</h1><p>Rendered by <code>platen try</code>.</p>';
/** Statuses of a service that is starting, is busy, or does not know the key yet: a later attempt may succeed. */
const MAY_PASS: ReadonlySet<number> = new Set([401, 429, 500, 502, 503, 504]);
const SHOWN = 500;

export interface Rendered {
  readonly bytes: number;
  /** From the start of the successful attempt to the whole PDF, in milliseconds. */
  readonly tookMs: number;
}

interface Target {
  readonly url: URL;
  readonly key: string;
  readonly signal: AbortSignal;
}

/**
 * Renders one small document. Temporary errors (the service cannot be reached, the pool is still empty) are retried
 * until the signal aborts.
 *
 * @throws CommandError with the last error of the service.
 */
export async function renderOnce({ url, key, signal }: Target): Promise<Rendered> {
  // Without the client's retries: the loop below retries more statuses, and keeps the last error for its final message.
  const client = new PlatenClient({ baseUrl: url.href, apiKey: key, retry: { giveUpAfterMs: 0 } });
  let last = 'nothing has responded';
  while (!signal.aborted) {
    const began = performance.now();
    try {
      const { bytes } = await client.render({ html: HTML }, { signal });
      const text = Buffer.from(bytes).toString();
      if (text.startsWith('%PDF-')) return { bytes: bytes.byteLength, tookMs: performance.now() - began };
      throw new CommandError(`${url} responded with 200, and the body is no PDF: ${text.slice(0, SHOWN)}`);
    } catch (error) {
      const why = describe(error as Error, url);
      if (!signal.aborted) last = why;
      await sleep(PAUSE_MS, undefined, { signal }).catch(() => undefined);
    }
  }
  throw new CommandError(`${url} has rendered nothing in time: ${last}.`);
}

/** The reason why an attempt failed. @throws CommandError when the next attempt would fail as well. */
function describe(error: Error, url: URL): string {
  if (error instanceof CommandError) throw error;
  if (error instanceof PlatenJobError && error.job !== undefined) {
    throw new CommandError(`${url}: the job ${error.jobId} is ${error.job.status} (${error.code}).`);
  }
  if (error instanceof PlatenError && error.status !== undefined) {
    const { status, code, message } = error;
    const said = code === undefined ? message : `it responds with ${status}: ${code}: ${message}`;
    if (!MAY_PASS.has(status)) throw new CommandError(`${url} does not render: ${said}`);
    return said;
  }
  return String(innermostCause(error));
}
