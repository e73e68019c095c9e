import { setTimeout as sleep } from 'node:timers/promises';
import { PlatenApiError, PlatenClient, PlatenJobError } from '../../clients/typescript/src/index.ts';
import { CommandError } from './command-error.ts';
import { innermostCause } from './open-client.ts';

const PAUSE_MS = 1000;
const HTML =
  '<!doctype html><title>Platen</title><h1>It works</h1><p>Rendered by <code>platen try</code>.</p>';
/** Statuses of a service that starts, is busy, or has not heard of the key yet: the next attempt may find it otherwise. */
const MAY_PASS: ReadonlySet<number> = new Set([401, 429, 500, 502, 503, 504]);
const SHOWN = 500;

export interface Rendered {
  readonly bytes: number;
  /** From the order that was accepted to the whole PDF, in milliseconds. */
  readonly tookMs: number;
}

interface Target {
  readonly url: URL;
  /** An API key. */
  readonly key: string;
  readonly signal: AbortSignal;
}

/**
 * Has one small document rendered, trying again for as long as the signal allows what may pass: a service that cannot be
 * reached, a pool that is still empty.
 *
 * @throws CommandError with what the service said last.
 */
export async function renderOnce({ url, key, signal }: Target): Promise<Rendered> {
  // Without retries of its own: the loop below has them, for more statuses, and keeps the last error for when time is up.
  const client = new PlatenClient({ baseUrl: url.href, apiKey: key, retry: { giveUpAfterMs: 0 } });
  let last = 'nothing has answered';
  while (!signal.aborted) {
    const began = performance.now();
    try {
      const { bytes } = await client.render({ html: HTML }, { signal });
      const text = Buffer.from(bytes).toString();
      if (text.startsWith('%PDF-')) return { bytes: bytes.byteLength, tookMs: performance.now() - began };
      throw new CommandError(`${url} answered 200, and what came is no PDF: ${text.slice(0, SHOWN)}`);
    } catch (error) {
      const why = describe(error as Error, url);
      if (!signal.aborted) last = why;
      await sleep(PAUSE_MS, undefined, { signal }).catch(() => undefined);
    }
  }
  throw new CommandError(`${url} has rendered nothing in time: ${last}.`);
}

/** Why an attempt has failed. @throws CommandError when the next one would fail as well. */
function describe(error: Error, url: URL): string {
  if (error instanceof CommandError) throw error;
  if (error instanceof PlatenJobError) {
    throw new CommandError(`${url}: the job ${error.jobId} is ${error.job.status} (${error.code}).`);
  }
  if (error instanceof PlatenApiError) {
    const { status, code, message } = error;
    const said = code === undefined ? message : `it answers ${status}: ${code}: ${message}`;
    if (!MAY_PASS.has(status)) throw new CommandError(`${url} does not render: ${said}`);
    return said;
  }
  return String(innermostCause(error));
}
