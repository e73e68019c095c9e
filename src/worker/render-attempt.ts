import { createHash } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import type { Core } from '../infra/core.ts';
import { PlatenError, toPlatenError } from '../infra/errors/registry.ts';
import { outputKey } from '../infra/outputs/output-store.ts';
import type { Permit } from '../infra/scheduling/fair-queue.ts';
import { NO_TRACING, type Tracing } from '../infra/tracing/tracing.ts';
import type { JobRenderer, RenderRequest } from '../render/renderer.ts';
import type { Findings } from '../render/report/findings.ts';
import type { RenderReport } from '../render/report/phases.ts';
import type { TemplateEngine } from '../tenants/templates/engine/template-engine.ts';
import { INPUTS } from '../work/inputs/inputs.ts';
import type { FailedAttempt, Job, JobError, JobInput, JobOutput, StoredFile } from '../work/jobs/job.ts';
import type { Jobs } from '../work/jobs/open-jobs.ts';
import { decideRetry, mustBeAlone } from '../work/jobs/retry-policy.ts';
import { serializedReport } from '../work/jobs/stored-report.ts';
import { type AttemptTrace, traceAttempt } from './attempt-trace.ts';
import type { HeldJob } from './held-jobs.ts';
import type { Sealer } from './seal-pdf.ts';

export interface AttemptDeps
  extends Pick<Core, 'clock' | 'logger' | 'outputs'>,
    Pick<Jobs, 'store' | 'ledger' | 'stored' | 'followUp' | 'retries'> {
  readonly renderer: JobRenderer;
  readonly templates: TemplateEngine;
  readonly seals: Sealer;
  readonly random: () => number;
  /** First backoff between attempts, in milliseconds. */
  readonly retryBaseMs: number;
  readonly observe: AttemptObserver;
  /**
   * Offers a rendered PDF to the caller's process while it is being stored. Default: nothing is offered.
   *
   * @returns ends that; undefined when it was not offered.
   */
  readonly offer?: (job: Job, bytes: Uint8Array) => (() => void) | undefined;
  /** Default: nothing is traced. */
  readonly tracing?: Tracing;
}

/** Receives the events of a worker's attempts; hides the telemetry from the worker. */
interface AttemptObserver {
  /** Called when a job was claimed and its attempt begins. */
  claimed(job: Job): void;
  rendered(job: Job, report: RenderReport, pages: number, bytes: number): void;
  ended(job: Job): void;
  retried(code: string): void;
  /** Called when the job was cancelled, or its lease ended: its output is dropped. */
  lost(): void;
}

const HOUR_MS = 3_600_000;
/**
 * For how long a PDF that is not kept waits for its caller at least, in milliseconds: whose connection broke asks again.
 * An upload is attempted for longer, so its PDF waits as long as the record of its job.
 */
const UNDELIVERED_MS = HOUR_MS;
/** The version of a job that got its slot on admission, and was claimed after that. */
const CLAIMED_AT_ONCE = 2;

/**
 * One attempt of a claimed job: input → document → PDF → store → completed; or retried, failed, given back. Resolves
 * when the attempt has ended, whatever the outcome, and never rejects for an error of the job.
 *
 * @param slot the slot of the render, which it still holds when this resolves.
 */
export async function attempt(
  deps: AttemptDeps,
  held: HeldJob,
  loading: JobInput | Promise<JobInput | undefined>,
  slot: Permit,
): Promise<void> {
  const { job } = held;
  const trace = traceAttempt(deps.tracing ?? NO_TRACING, job);
  let phases: FailedAttempt['phases'] = null;
  let findings: Findings | undefined;
  const note = (report: RenderReport, found: Findings | undefined) => {
    phases = report.phases;
    findings = found;
    trace.rendered(report);
  };
  try {
    const input = (await loading) ?? (await deps.store.inputs.load(job._id));
    if (input === undefined) {
      throw new PlatenError('INTERNAL', 'The input of the job is gone.', { permanent: true });
    }
    await requireRoom(deps, job, input);
    await renderAndStore(deps, held, input, slot, note, trace);
  } catch (error) {
    await afterError(deps, held, error, phases, findings, trace);
  } finally {
    trace.end();
  }
}

/**
 * Fails a job that has waited if its account has exceeded its storage limit meanwhile. A job that got its slot on
 * admission has just been checked.
 *
 * @throws PlatenError STORAGE_FULL.
 */
async function requireRoom(
  { ledger, stored }: AttemptDeps,
  { accountId, version }: Job,
  { maxStoredBytes }: JobInput,
): Promise<void> {
  if (version === CLAIMED_AT_ONCE) return;
  // The previous job in this slot has just changed the ledger, mostly in this process.
  const bytes = ledger.storedLately(accountId) ?? (await stored.of(accountId));
  if (bytes > maxStoredBytes) throw new PlatenError('STORAGE_FULL');
}

/** @param note called with the report and its findings, also if the render fails or cannot be stored. */
async function renderAndStore(
  deps: AttemptDeps,
  held: HeldJob,
  input: JobInput,
  slot: Permit,
  note: NonNullable<RenderRequest['onFailed']>,
  trace: AttemptTrace,
): Promise<void> {
  const { job, signal } = held;
  const { store, followUp, renderer, outputs, observe } = deps;
  const began = (job.startedAt ?? deps.clock.now()).getTime();
  const deadline = began + input.timeoutMs;
  const warnings: string[] = [];
  const kind = INPUTS[input.source.mode];
  const context = {
    account: input.accountId,
    templates: deps.templates,
    options: input.options,
    onWarnings: input.options.report ? (found: readonly string[]) => void warnings.push(...found) : undefined,
    withinMs: Math.max(1, deadline - deps.clock.now().getTime()),
    pdfOf: (jobId: string) => pdfOf(jobId, job, deps),
    signal,
  };
  const [source, options = input.options] = await Promise.all([
    kind.documentOf(input.source, context),
    kind.optionsOf?.(input.source, input.options, context),
  ]);
  trace.renders();
  const {
    bytes: printed,
    mediaType,
    pages,
    report,
    findings,
  } = await renderer.render({
    jobId: job._id,
    accountId: job.accountId,
    class: job.class,
    source,
    options,
    written: input.options,
    warnings,
    deadline,
    maxOutputBytes: input.maxOutputBytes,
    alone: mustBeAlone(job),
    onWaiting: (waits) => (waits ? slot.pause() : slot.resume()),
    onFailed: note,
    signal,
  });
  note(report, findings);
  const { seal } = options;
  const sealed = seal && (await deps.seals.seal(printed, { seal, job, deadline, signal }));
  const bytes = sealed?.pdf ?? printed;
  if (bytes.byteLength > input.maxOutputBytes) throw new PlatenError('OUTPUT_TOO_LARGE');
  if (sealed && findings) Object.assign(findings, { seal: sealed.facts, size: bytes.byteLength });
  const expiresAt = expiryOf(deps, job);
  const xml = job.keepsNothing ? undefined : input.options.einvoice?.xml;
  const einvoice = xml && Buffer.from(xml);
  const output: JobOutput = {
    key: outputKey(job._id, job.version, outputExpiryOf(deps, job, expiresAt)),
    size: bytes.byteLength,
    pages,
    sha256: createHash('sha256').update(bytes).digest('hex'),
    mediaType,
    ...(einvoice && {
      einvoice: { key: outputKey(job._id, job.version, expiresAt, 'xml'), size: einvoice.byteLength },
    }),
    report,
    ...(seal && { isSealed: true as const }),
  };
  const withdraw = deps.offer?.(job, bytes);
  const storing = Date.now();
  const storeAll = async () => {
    await outputs.put(output.key, bytes, signal, output.sha256);
    if (einvoice) await outputs.put(output.einvoice!.key, einvoice, signal);
  };
  await storeAll()
    .catch((cause: unknown) => {
      throw new PlatenError('RENDER_FAILED', 'The PDF was rendered, and could not be stored.', { cause });
    })
    .finally(withdraw);
  trace.stored(storing);
  const stored = await storeReport(deps, job, findings, null, expiresAt, signal);
  const completed = await store.transitions.complete(job, output, expiresAt, stored);
  if (completed === undefined) {
    const files = [output, output.einvoice, stored].flatMap((file) => file?.key ?? []);
    await outputs.delete(...files);
    noteLost(deps, job, 'after the render');
    return;
  }
  held.recorded();
  trace.ends({ outcome: 'completed', pages, bytes: bytes.byteLength });
  observe.rendered(completed, report, pages, bytes.byteLength);
  observe.ended(completed);
  await followUp.followSoon(completed);
}

async function afterError(
  deps: AttemptDeps,
  held: HeldJob,
  thrown: unknown,
  phases: FailedAttempt['phases'],
  findings: Findings | undefined,
  trace: AttemptTrace,
): Promise<void> {
  const { store, followUp, retries, logger, observe } = deps;
  const { job, signal } = held;
  if (signal.aborted && signal.reason === 'lost') return noteLost(deps, job, 'while rendering');
  if (signal.aborted) {
    const returned = await retries.giveBack(job);
    if (returned) trace.ends({ outcome: 'returned' });
    held.recorded();
    const why = signal.reason === 'unable' ? 'has no browser' : 'is shutting down';
    logger.info({ jobId: job._id, returned }, `render stopped: this worker ${why}`);
    return;
  }
  const error = withoutSecrets(toPlatenError(thrown, 'RENDER_FAILED'), findings);
  const decision = decideRetry(job, error, deps.retryBaseMs, deps.random);
  logger.info(
    { jobId: job._id, code: error.code, attempt: job.attempts, decision: decision.kind, err: error.cause },
    'attempt failed',
  );
  if (decision.kind === 'retry') {
    const retried = await retries.retryLater(job, error, decision.delayMs, false, phases);
    held.recorded();
    if (!retried) return noteLost(deps, job, 'after a failed attempt');
    trace.ends({ outcome: 'retried', code: error.code });
    observe.retried(error.code);
    return;
  }
  if (findings !== undefined && phases !== null) findings.phases = phases;
  const stored = await storeReport(deps, job, findings, error, expiryOf(deps, job), signal);
  const [failed] = await store.transitions.fail([job], error, { phases, report: stored });
  held.recorded();
  if (failed === undefined && stored !== undefined) await deps.outputs.delete(stored.key);
  if (failed === undefined) return noteLost(deps, job, 'after a failed attempt');
  trace.ends({ outcome: 'failed', code: error.code });
  observe.ended(failed);
  await followUp.followSoon(failed);
}

/** The PDF of another job of the account; undefined when it is not kept (any more). */
async function pdfOf(
  jobId: string,
  { accountId, test }: Pick<Job, 'accountId' | 'test'>,
  { store, outputs }: Pick<AttemptDeps, 'store' | 'outputs'>,
): Promise<Uint8Array | undefined> {
  const job = await store.find(accountId, jobId);
  if (!job?.output || job.test !== test) return undefined;
  const stored = await outputs.get(job.output.key);
  return stored && (await buffer(stored.stream));
}

/** Redacts the error as in the report: the job's record has the same message, and neither reveals more. */
function withoutSecrets(error: PlatenError, findings: Findings | undefined): PlatenError {
  const message = findings?.redactor.text(error.message) ?? error.message;
  return message === error.message ? error : new PlatenError(error.code, message, error);
}

/** The time until which the attempt's output and report are kept. */
function expiryOf({ clock }: Pick<AttemptDeps, 'clock'>, { retentionHours }: Job): Date {
  return new Date(clock.now().getTime() + retentionHours * HOUR_MS);
}

/** The time until which the PDF waits at the latest. */
function outputExpiryOf({ clock }: Pick<AttemptDeps, 'clock'>, job: Job, expiresAt: Date): Date {
  if (!job.keepsNothing || job.uploadUrl !== undefined) return expiresAt;
  return new Date(clock.now().getTime() + UNDELIVERED_MS);
}

/** @returns undefined when there are none, or they could not be stored: the job's end does not depend on that. */
async function storeReport(
  { outputs, logger }: Pick<AttemptDeps, 'outputs' | 'logger'>,
  job: Job,
  findings: Findings | undefined,
  error: JobError | null,
  expiresAt: Date,
  signal: AbortSignal,
): Promise<StoredFile | undefined> {
  if (findings === undefined || job.keepsNothing) return undefined;
  const bytes = serializedReport(findings, error);
  const key = outputKey(job._id, job.version, expiresAt, 'json');
  try {
    await outputs.put(key, bytes, signal);
    return { key, size: bytes.byteLength };
  } catch (error) {
    logger.warn({ err: error, jobId: job._id }, 'the report of a render could not be kept');
    return undefined;
  }
}

function noteLost({ logger, observe }: AttemptDeps, job: Job, when: string): void {
  observe.lost();
  logger.info(
    { jobId: job._id, attempt: job.attempts, when },
    'render dropped: the job was cancelled, or its lease ended and another took it',
  );
}
