import { setTimeout as sleep } from 'node:timers/promises';
import { CommandError } from './command-error.ts';

const PAUSE_MS = 1000;
const HTML =
  '<!doctype html><title>Platen</title><h1>It works</h1><p>Rendered by <code>platen try</code>.</p>';
/** The service starts, is busy, or has not heard of the key yet: the next attempt may find it otherwise. */
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
export async function renderOnce(target: Target): Promise<Rendered> {
  let last = 'nothing has answered';
  while (!target.signal.aborted) {
    try {
      return await attempt(target);
    } catch (error) {
      if (error instanceof CommandError) throw error;
      if (!target.signal.aborted) last = describe(error as Error);
      await sleep(PAUSE_MS, undefined, { signal: target.signal }).catch(() => undefined);
    }
  }
  throw new CommandError(`${target.url} has rendered nothing in time: ${last}.`);
}

async function attempt(target: Target): Promise<Rendered> {
  const began = performance.now();
  const answer = await call(target, 'v1/pdf', { html: HTML });
  const pdf = answer.status === 202 ? await awaitJob(target, (await jobOf(answer)).jobId) : answer;
  const bytes = new Uint8Array(await pdf.arrayBuffer());
  if (!Buffer.from(bytes.subarray(0, 5)).equals(Buffer.from('%PDF-'))) {
    throw new CommandError(
      `${target.url} answered ${pdf.status}, and what came is no PDF: ${Buffer.from(bytes).toString().slice(0, SHOWN)}`,
    );
  }
  return { bytes: bytes.byteLength, tookMs: performance.now() - began };
}

/** The file of a job that became too slow to be waited for by the API. */
async function awaitJob(target: Target, jobId: string): Promise<Response> {
  for (;;) {
    const { status, error } = await jobOf(await call(target, `v1/pdf/jobs/${jobId}`));
    if (status === 'completed') return call(target, `v1/pdf/jobs/${jobId}/file`);
    if (status === 'failed' || status === 'cancelled') {
      throw new CommandError(`${target.url}: the job ${jobId} is ${status} (${error?.code ?? 'no code'}).`);
    }
    await sleep(PAUSE_MS, undefined, { signal: target.signal });
  }
}

async function jobOf(answer: Response) {
  return (await answer.json()) as { jobId: string; status: string; error?: { code: string } | null };
}

/** @throws CommandError for an answer that stays as it is, another Error for one that may pass. */
async function call(target: Target, path: string, body?: object): Promise<Response> {
  const base = target.url.href.endsWith('/') ? target.url : new URL(`${target.url.href}/`);
  const answer = await fetch(new URL(path, base), {
    method: body === undefined ? 'GET' : 'POST',
    headers: { 'X-API-Key': target.key, 'Content-Type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: target.signal,
  });
  if (answer.ok) return answer;
  const said = `it answers ${answer.status}: ${(await answer.text()).slice(0, SHOWN)}`;
  if (MAY_PASS.has(answer.status)) throw new Error(said);
  throw new CommandError(`${target.url} does not render: ${said}`);
}

/** A call that failed says why in its cause. */
function describe(error: Error): string {
  return error.cause instanceof Error ? `${error.message} (${error.cause.message})` : error.message;
}
