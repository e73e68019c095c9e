import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Reply } from '../support/send.ts';
import type { ChaosAccount } from './accounts.ts';
import type { Findings } from './findings.ts';
import { KILL_EVERY_MS } from './kills.ts';
import { pick, seeded } from './random.ts';

/** Separates the random numbers of the submissions from those of the kills. */
const SALT = 0x0bde5;
const PAUSE_MS = 250;
/** Around each kill, so that requests are under way when it comes. */
const BURST_MS = 150;

export interface ChaosSubmission {
  /** Its idempotency key, which is also printed in its PDF and named in its file name. */
  readonly key: string;
  readonly number: number;
  readonly account: ChaosAccount;
  /** Milliseconds from the beginning of the run. */
  readonly atMs: number;
  readonly isAsync: boolean;
  readonly body: Readonly<Record<string, unknown>>;
}

/** A submission with its response. */
export interface Submission {
  readonly submission: ChaosSubmission;
  readonly status: 200 | 202;
  readonly jobId: string;
  /** Hex SHA-256 of the PDF in the response, if there was one. */
  readonly pdf: string | undefined;
  /** Requests until then. */
  readonly tries: number;
}

/** What a response says about a submission, once it has been checked. */
type Reported = Pick<Submission, 'jobId' | 'pdf'>;

/**
 * A mix of all kinds of submissions: half of them spread evenly over the time, half of them at the moments of the
 * kills. The same for the same seed.
 */
export function makeSubmissions(
  seed: number,
  count: number,
  spreadMs: number,
  accounts: readonly ChaosAccount[],
): ChaosSubmission[] {
  const random = seeded(seed ^ SALT);
  return Array.from({ length: count }, (_, i) => {
    const key = `order-${seed}-${String(i).padStart(4, '0')}`;
    const account = pick(random, accounts)!;
    const isAsync = random() < 0.5;
    const source =
      random() < 0.3
        ? { templateId: account.templateId, data: { order: key } }
        : { html: `<h1>Order ${key}</h1><p>${'of HTML '.repeat(20)}</p>` };
    const options = { format: 'A5', ...(random() < 0.5 ? { delayMs: Math.floor(random() * 400) } : {}) };
    const output = random() < 0.25 ? 'url' : 'binary';
    const executionMode = isAsync ? 'async' : 'sync';
    const body = { ...source, options, output, executionMode, filename: `${key}.pdf` };
    const evenly = (i / count) * spreadMs;
    const nextKill = Math.ceil(evenly / KILL_EVERY_MS) * KILL_EVERY_MS;
    const atMs = Math.max(0, random() < 0.5 ? evenly : nextKill + (random() - 0.7) * BURST_MS);
    return { key, number: i, account, atMs, isAsync, body };
  });
}

/**
 * Sends a submission with its key, to one API after the other, until it gets a response.
 *
 * @returns undefined when it was rejected for good, which is a finding, or the time was up.
 */
export async function submit(
  submission: ChaosSubmission,
  findings: Findings,
  signal: AbortSignal,
): Promise<Submission | undefined> {
  const { key, account } = submission;
  for (let tries = 1; !signal.aborted; tries += 1) {
    const caller = account.callers[(submission.number + tries) % account.callers.length]!;
    let response: Reply;
    try {
      response = await caller.render(submission.body, { 'idempotency-key': key });
    } catch {
      // The API is down, or was killed before it responded.
      await sleep(PAUSE_MS);
      continue;
    }
    findings.count(`${response.status}`);
    if (response.status === 503) findings.refused(account.name);
    if (response.status === 200 || response.status === 202) {
      const reported = checkResponse(submission, response, `try ${tries}`, findings);
      return reported && { ...reported, submission, status: response.status, tries };
    }
    const { code } = response.json;
    const isToBeRepeated = code === 'IDEMPOTENCY_IN_PROGRESS' || code === 'UNAVAILABLE';
    if (!isToBeRepeated) findings.add(key, `try ${tries} was answered ${response.status} ${code}`);
    if (!isToBeRepeated && response.status < 500) return undefined;
    await sleep(PAUSE_MS);
  }
  findings.add(key, 'had no response in time');
  return undefined;
}

/** Repeats a submission after everything has ended: the first response has to come again. */
export async function repeat(placed: Submission, findings: Findings): Promise<void> {
  const { submission, status, jobId } = placed;
  const caller = submission.account.callers[submission.number % submission.account.callers.length]!;
  const response = await caller.render(submission.body, { 'idempotency-key': submission.key });
  const again = checkResponse(submission, response, 'its repetition', findings);
  if (response.status !== status) {
    findings.add(submission.key, `was answered ${status} at first and ${response.status} when repeated`);
  }
  if (again !== undefined && again.jobId !== jobId) {
    findings.add(submission.key, `was given job ${jobId} at first and job ${again.jobId} when repeated`);
  }
  if (again?.pdf !== placed.pdf) findings.add(submission.key, 'was given another PDF when it was repeated');
}

/** Checks a response against its submission. @returns undefined when it names no job. */
function checkResponse(
  submission: ChaosSubmission,
  response: Reply,
  which: string,
  findings: Findings,
): Reported | undefined {
  const type = response.headers.get('content-type') ?? '';
  const isEnvelope = response.status === 202 && type.startsWith('application/json');
  if (submission.isAsync && !isEnvelope) {
    findings.add(submission.key, `is asynchronous, and ${which} was answered ${response.status} ${type}`);
  }
  const wanted = submission.body.output === 'url' ? 'application/json' : 'application/pdf';
  if (response.status === 200 && !type.startsWith(wanted)) {
    findings.add(submission.key, `${which} was answered 200 ${type} in place of ${wanted}`);
  }
  const jobId: unknown = isEnvelope ? response.json.jobId : response.headers.get('x-service-job-id');
  if (typeof jobId === 'string') {
    return { jobId, pdf: type.startsWith('application/pdf') ? sha256(response.bytes) : undefined };
  }
  findings.add(submission.key, `${which} was answered ${response.status} without a job`);
  return undefined;
}

export function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
