import { readPdf } from '../support/pdf.ts';
import { type ChaosAccount, MONTHLY_RENDERS } from './accounts.ts';
import type { Findings } from './findings.ts';
import { type Submission, sha256 } from './submissions.ts';

const PAGE = 100;
const READERS = 4;

interface JobRecord {
  readonly jobId: string;
  readonly status: string;
  readonly fileName: string;
  readonly attemptCount: number;
  readonly error: { readonly code: string; readonly message: string } | null;
}

/** How a job ends that was killed in every one of its attempts, or twice with its browser: as it should. */
const KILLED_TOO_OFTEN: ReadonlySet<string> = new Set(['BROWSER_CRASHED', 'WORKER_LOST']);
/** Per cent of the submissions. More than that cannot be chance. */
const MAX_KILLED_PERCENT = 1;

/** How many of the account's jobs have not ended. */
export async function countLive({ callers }: ChaosAccount): Promise<number> {
  const totals = ['queued', 'processing'].map(async (status) => {
    const response = await callers[0]!.call('GET', `/v1/pdf/jobs?status=${status}&limit=1`);
    return response.json.total as number;
  });
  return (await Promise.all(totals)).reduce((sum, total) => sum + total);
}

/**
 * Checks that every submission has one job, the one in its response, and that the job has a PDF with the submission's
 * own text in it, the same that its caller got, if it got one.
 *
 * @returns how many of the jobs have failed because they were killed in each of their attempts.
 */
export async function checkJobs(
  account: ChaosAccount,
  placed: readonly Submission[],
  findings: Findings,
): Promise<number> {
  const jobs = await listJobs(account);
  const byKey = Map.groupBy(jobs, ({ fileName }) => fileName.replace(/\.pdf$/, ''));
  for (const { submission, jobId } of placed) {
    const own = byKey.get(submission.key) ?? [];
    byKey.delete(submission.key);
    if (own.length !== 1) {
      const states = own.map(({ jobId, status, error }) => `${jobId} ${status} ${error?.code ?? ''}`.trim());
      findings.add(submission.key, `has ${own.length} jobs: ${states.join('; ') || 'none'}`);
    } else if (own[0]!.jobId !== jobId) {
      findings.add(submission.key, `was answered with job ${jobId} and has job ${own[0]!.jobId}`);
    }
  }
  for (const [key, own] of byKey) findings.add(key, `has ${own.length} jobs that no response has named`);
  const killed = new Set(jobs.filter(wasKilledTooOften));
  const given = new Map(placed.map(({ jobId, pdf }) => [jobId, pdf]));
  await Promise.all(
    Array.from({ length: READERS }, async (_, reader) => {
      for (let i = reader; i < jobs.length; i += READERS) {
        if (!killed.has(jobs[i]!)) await checkPdf(account, jobs[i]!, given.get(jobs[i]!.jobId), findings);
      }
    }),
  );
  for (const { jobId, error } of killed) findings.count(`${error?.code} in every attempt of ${jobId}`);
  if (killed.size > Math.ceil((placed.length * MAX_KILLED_PERCENT) / 100)) {
    findings.add(account.name, `${killed.size} jobs have failed in every attempt`);
  }
  return killed.size;
}

function wasKilledTooOften({ status, attemptCount, error }: JobRecord): boolean {
  return status === 'failed' && attemptCount > 1 && KILLED_TOO_OFTEN.has(error?.code ?? '');
}

async function checkPdf(
  account: ChaosAccount,
  job: JobRecord,
  given: string | undefined,
  findings: Findings,
): Promise<void> {
  const key = job.fileName.replace(/\.pdf$/, '');
  if (job.status !== 'completed') {
    findings.add(
      key,
      `job ${job.jobId} is ${job.status} ${job.error?.code ?? ''} ${job.error?.message ?? ''}`.trimEnd(),
    );
    return;
  }
  const file = await account.callers[0]!.call('GET', `/v1/pdf/jobs/${job.jobId}/file`);
  if (file.status !== 200) {
    findings.add(key, `the file of job ${job.jobId} was answered ${file.status}`);
    return;
  }
  if (given !== undefined && given !== sha256(file.bytes)) {
    findings.add(key, `was answered with another PDF than the one of job ${job.jobId}`);
  }
  const printed = [...(await readPdf(file.bytes)).text.matchAll(/Order (\S+)/g)].map(([, text]) => text);
  if (printed.join() !== key) {
    findings.add(key, `the PDF of job ${job.jobId} names ${printed.join(', ') || 'no order'}`);
  }
}

async function listJobs({ callers }: ChaosAccount): Promise<JobRecord[]> {
  const jobs: JobRecord[] = [];
  for (;;) {
    const path = `/v1/pdf/jobs?sort=created_asc&limit=${PAGE}&offset=${jobs.length}`;
    const { json } = await callers[0]!.call('GET', path);
    jobs.push(...json.jobs);
    if (json.jobs.length === 0 || jobs.length >= json.total) return jobs;
  }
}

/**
 * The differences between an account's reported usage and its submissions.
 *
 * @param failed submissions without a PDF: they are counted as failures, and use no quota.
 * @param refused the number of 503 responses: these requests failed and were repeated.
 */
export async function usageErrors(
  account: ChaosAccount,
  submitted: number,
  failed: number,
  refused: number,
): Promise<string[]> {
  const submissions = submitted - failed;
  const usage = await account.owner.expect(200, 'GET', '/user/usage?period=1d');
  const charged = MONTHLY_RENDERS - usage.remaining;
  const errors: string[] = [];
  if (charged !== submissions)
    errors.push(`${account.name}: ${charged} of the quota are used by ${submissions} submissions`);
  if (usage.successCount !== submissions) {
    errors.push(
      `${account.name}: ${usage.successCount} of ${submissions} submissions are counted in the usage`,
    );
  }
  if (usage.failedCount < failed || usage.failedCount > failed + refused) {
    errors.push(
      `${account.name}: ${usage.failedCount} failures are counted, of ${failed} and ${refused} refusals: ${JSON.stringify(usage.errorsByCategory)}`,
    );
  }
  return errors;
}
