import { createHash } from 'node:crypto';
import type { Renderer, RenderPhase, RenderSource } from '../chromium/renderer.ts';
import type { Clock } from '../clock.ts';
import { PlatenError, toPlatenError } from '../errors/registry.ts';
import type { Job, JobInput, JobOutput } from '../jobs/job.ts';
import type { JobEnds } from '../jobs/job-ends.ts';
import type { Ledger } from '../jobs/ledger/ledger.ts';
import type { StoredBytes } from '../jobs/ledger/stored-bytes.ts';
import type { Retries } from '../jobs/retries.ts';
import { decideRetry, mustBeAlone } from '../jobs/retry-policy.ts';
import type { JobStore } from '../jobs/store/job-store.ts';
import { type OutputStore, outputKey } from '../store/outputs/output-store.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { TemplateEngine } from '../templates/engine/template-engine.ts';
import type { HeldJob } from './held-jobs.ts';
import type { WorkerSlot } from './slots.ts';

export interface AttemptParts {
  readonly store: JobStore;
  readonly ledger: Pick<Ledger, 'storedLately'>;
  readonly stored: Pick<StoredBytes, 'of'>;
  readonly ends: JobEnds;
  readonly retries: Retries;
  readonly renderer: Renderer;
  readonly templates: TemplateEngine;
  readonly outputs: OutputStore;
  readonly clock: Clock;
  readonly random: () => number;
  /** First back-off between attempts, in milliseconds. */
  readonly retryBaseMs: number;
  readonly logger: Logger;
  readonly observe: AttemptObserver;
}

/** What a worker reports of its attempts; the telemetry behind it is not the worker's matter. */
export interface AttemptObserver {
  /** A job was claimed: its attempt begins. */
  claimed(job: Job): void;
  rendered(phases: Readonly<Record<RenderPhase, number>>, pages: number, bytes: number): void;
  ended(job: Job): void;
  retried(code: string): void;
  /** The job was cancelled, or its lease ended: what was rendered is nobody's. */
  lost(): void;
}

const HOUR_MS = 3_600_000;
/** The version of a job that got its slot when it was let in, and was claimed after that. */
const CLAIMED_AT_ONCE = 2;
/** Milliseconds. Templates take a few; what takes longer must not stand before those of others. */
const MAX_TEMPLATE_MS = 10_000;
/** A template may produce far more than it is long; this bounds what is put into a page. */
const MAX_TEMPLATE_OUTPUT_BYTES = 32 * 1024 * 1024;

/**
 * One attempt of a claimed job: input → document → PDF → store → completed; or retried, failed, given back. Resolves
 * when the attempt has ended, whatever came of it, and never rejects for a fault of the job.
 *
 * @param slot of the render, which it still has when this resolves.
 */
export async function attempt(
  parts: AttemptParts,
  held: HeldJob,
  loading: Promise<JobInput | undefined>,
  slot: WorkerSlot,
): Promise<void> {
  const { job } = held;
  try {
    const input = (await loading) ?? (await parts.store.inputs.load(job._id));
    if (input === undefined) {
      throw new PlatenError('INTERNAL', 'The input of the job is gone.', { permanent: true });
    }
    await requireRoom(parts, job, input);
    await renderAndStore(parts, held, input, slot);
  } catch (error) {
    await afterFault(parts, held, error);
  }
}

/**
 * A job that has waited is not rendered when its account has come to keep as much as it may meanwhile. One that was let in
 * with a slot has just been asked.
 *
 * @throws PlatenError STORAGE_FULL.
 */
async function requireRoom(
  { ledger, stored }: AttemptParts,
  { accountId, version }: Job,
  { maxStoredBytes }: JobInput,
): Promise<void> {
  if (maxStoredBytes === undefined || version === CLAIMED_AT_ONCE) return;
  // Whoever handed its slot on has changed the ledger a moment ago, mostly in this process.
  const bytes = ledger.storedLately(accountId) ?? (await stored.of(accountId));
  if (bytes > maxStoredBytes) throw new PlatenError('STORAGE_FULL');
}

async function renderAndStore(
  parts: AttemptParts,
  held: HeldJob,
  input: JobInput,
  slot: WorkerSlot,
): Promise<void> {
  const { job, signal } = held;
  const { store, ends, renderer, outputs, observe } = parts;
  const began = (job.startedAt ?? parts.clock.now()).getTime();
  const deadline = began + input.timeoutMs;
  const source = await documentOf(parts, input, deadline, signal);
  const { pdf, pages, phases } = await renderer.render({
    jobId: job._id,
    accountId: job.accountId,
    class: job.class,
    source,
    options: input.options,
    deadline,
    maxOutputBytes: input.maxOutputBytes,
    alone: mustBeAlone(job),
    onWaiting: (waits) => (waits ? slot.pause() : slot.resume()),
    signal,
  });
  const expiresAt = new Date(parts.clock.now().getTime() + job.retentionHours * HOUR_MS);
  const output: JobOutput = {
    key: outputKey(job._id, job.version, expiresAt),
    size: pdf.byteLength,
    pages,
    sha256: createHash('sha256').update(pdf).digest('hex'),
  };
  await outputs.put(output.key, pdf, signal);
  const completed = await store.transitions.complete(job, output, expiresAt);
  if (completed === undefined) {
    await outputs.delete(output.key);
    noteLost(parts, job, 'after the render');
    return;
  }
  held.recorded();
  observe.rendered(phases, pages, pdf.byteLength);
  observe.ended(completed);
  await ends.followSoon(completed);
}

async function documentOf(
  parts: AttemptParts,
  input: JobInput,
  deadline: number,
  signal: AbortSignal,
): Promise<RenderSource> {
  const { source } = input;
  if (source.mode === 'html') return { kind: 'html', html: source.html };
  if (source.mode === 'url') return { kind: 'url', url: source.url };
  const withinMs = Math.max(1, deadline - parts.clock.now().getTime());
  const html = await parts.templates.render(
    source.content,
    source.data,
    { timeoutMs: Math.min(MAX_TEMPLATE_MS, withinMs), maxOutputBytes: MAX_TEMPLATE_OUTPUT_BYTES },
    { account: input.accountId, withinMs, signal },
  );
  return { kind: 'html', html, template: source.content };
}

async function afterFault(parts: AttemptParts, held: HeldJob, thrown: unknown): Promise<void> {
  const { store, ends, retries, logger, observe } = parts;
  const { job, signal } = held;
  if (signal.aborted && signal.reason === 'lost') return noteLost(parts, job, 'while rendering');
  if (signal.aborted) {
    const returned = await retries.giveBack(job);
    held.recorded();
    const why = signal.reason === 'unable' ? 'has no browser' : 'is shutting down';
    logger.info({ jobId: job._id, returned }, `render stopped: this worker ${why}`);
    return;
  }
  const error = toPlatenError(thrown, 'RENDER_FAILED');
  const decision = decideRetry(job, error, parts.retryBaseMs, parts.random);
  logger.info(
    { jobId: job._id, code: error.code, attempt: job.attempts, decision: decision.kind, err: error.cause },
    'attempt failed',
  );
  if (decision.kind === 'retry') {
    const retried = await retries.retryLater(job, error, decision.delayMs);
    held.recorded();
    if (retried) observe.retried(error.code);
    else noteLost(parts, job, 'after a failed attempt');
    return;
  }
  const failed = await store.transitions.fail(job, error);
  held.recorded();
  if (failed === undefined) return noteLost(parts, job, 'after a failed attempt');
  observe.ended(failed);
  await ends.followSoon(failed);
}

function noteLost({ logger, observe }: AttemptParts, job: Job, when: string): void {
  observe.lost();
  logger.info(
    { jobId: job._id, attempt: job.attempts, when },
    'render dropped: the job was cancelled, or its lease ended and another took it',
  );
}
