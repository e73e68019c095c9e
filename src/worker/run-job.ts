import { createHash } from 'node:crypto';
import type { Renderer, RenderPhase, RenderSource } from '../chromium/renderer.ts';
import type { Clock } from '../clock.ts';
import { PlatenError, toPlatenError } from '../errors/registry.ts';
import type { Dispatch } from '../jobs/dispatch.ts';
import { loadInput } from '../jobs/inputs.ts';
import type { Job, JobInput, JobOutput } from '../jobs/job.ts';
import type { JobCollections } from '../jobs/job-collections.ts';
import type { Lifecycle } from '../jobs/lifecycle.ts';
import { judge } from '../jobs/retry-policy.ts';
import { type OutputStore, outputKey } from '../store/outputs/output-store.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { TemplateEngine } from '../templates/engine/template-engine.ts';
import type { HeldJob } from './held-jobs.ts';

export interface RunParts {
  readonly collections: JobCollections;
  readonly lifecycle: Lifecycle;
  readonly dispatch: Dispatch;
  readonly renderer: Renderer;
  readonly templates: TemplateEngine;
  readonly outputs: OutputStore;
  readonly clock: Clock;
  readonly random: () => number;
  /** First back-off between attempts, in milliseconds. */
  readonly retryBaseMs: number;
  readonly logger: Logger;
  readonly observe: RunObserver;
}

/** What a worker reports of its runs; the telemetry behind it is not the worker's matter. */
export interface RunObserver {
  rendered(phases: Readonly<Record<RenderPhase, number>>, pages: number, bytes: number): void;
  ended(job: Job): void;
  retried(code: string): void;
}

const HOUR_MS = 3_600_000;
/** Milliseconds. Templates take a few; what takes longer must not stand before those of others. */
const MAX_TEMPLATE_MS = 10_000;
/** A template may produce far more than it is long; this bounds what is put into a page. */
const MAX_TEMPLATE_OUTPUT_BYTES = 32 * 1024 * 1024;

/**
 * One attempt of a claimed job: input → document → PDF → store → completed; or retried, failed, given back. Resolves
 * when the attempt is over, whatever came of it, and never rejects for a fault of the job.
 */
export async function runJob(
  parts: RunParts,
  held: HeldJob,
  loading: Promise<JobInput | undefined>,
): Promise<void> {
  const { job } = held;
  try {
    const input = (await loading) ?? (await loadInput(parts.collections, job._id));
    if (input === undefined) {
      throw new PlatenError('INTERNAL', 'The input of the job is gone.', { permanent: true });
    }
    await renderAndStore(parts, held, input);
  } catch (error) {
    await afterFault(parts, held, error);
  }
}

async function renderAndStore(parts: RunParts, held: HeldJob, input: JobInput): Promise<void> {
  const { job, signal } = held;
  const { lifecycle, dispatch, renderer, outputs, observe } = parts;
  const began = (job.startedAt ?? parts.clock.now()).getTime();
  const deadline = began + input.timeoutMs;
  const source = await documentOf(parts, input, deadline, signal);
  const { pdf, pages, phases } = await renderer.render({
    jobId: job._id,
    accountId: job.accountId,
    source,
    options: input.options,
    deadline,
    maxOutputBytes: input.maxOutputBytes,
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
  const completed = await lifecycle.complete(job, output, expiresAt);
  if (completed === undefined) {
    // Cancelled, or somebody else's by now: what was printed is nobody's.
    await outputs.delete(output.key);
    return;
  }
  held.over();
  observe.rendered(phases, pages, pdf.byteLength);
  observe.ended(completed);
  await dispatch.settle(completed);
}

async function documentOf(
  parts: RunParts,
  input: JobInput,
  deadline: number,
  signal: AbortSignal,
): Promise<RenderSource> {
  const { source } = input;
  if (source.mode === 'html') return { kind: 'html', html: source.html };
  if (source.mode === 'url') return { kind: 'url', url: source.url };
  const html = await parts.templates.render(
    source.content,
    source.data,
    {
      timeoutMs: Math.max(1, Math.min(MAX_TEMPLATE_MS, deadline - parts.clock.now().getTime())),
      maxOutputBytes: MAX_TEMPLATE_OUTPUT_BYTES,
    },
    signal,
  );
  return { kind: 'html', html };
}

async function afterFault(parts: RunParts, held: HeldJob, thrown: unknown): Promise<void> {
  const { lifecycle, dispatch, logger, observe } = parts;
  const { job, signal } = held;
  if (signal.aborted && signal.reason === 'lost') return;
  if (signal.aborted && signal.reason === 'shutdown') {
    const returned = await lifecycle.giveBack(job);
    held.over();
    if (returned !== undefined) await dispatch.settle(returned);
    return;
  }
  const error = toPlatenError(thrown, 'RENDER_FAILED');
  const verdict = judge(job, error, parts.retryBaseMs, parts.random);
  logger.info(
    { jobId: job._id, code: error.code, attempt: job.attempts, verdict: verdict.kind, err: error.cause },
    'attempt failed',
  );
  if (verdict.kind === 'retry') {
    const retried = await lifecycle.retryLater(job, error, verdict.delayMs);
    held.over();
    if (retried === undefined) return;
    observe.retried(error.code);
    await dispatch.settle(retried);
    return;
  }
  const failed = await lifecycle.fail(job, error);
  held.over();
  if (failed === undefined) return;
  observe.ended(failed);
  await dispatch.settle(failed);
}
