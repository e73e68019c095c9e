import { Findings } from '../../render/report/findings.ts';
import { warningsOf } from '../../render/report/warnings.ts';
import type { SealFacts } from '../../render/seal/seal.ts';
import { attemptsOf } from './attempts.ts';
import { type Job, type JobError, pdfSize } from './job.ts';

/** The largest report in a response, in bytes. */
export const MAX_REPORT_BYTES = 256 * 1024;
/** Bytes that the job's record adds to a report: id, status and attempts. */
const RECORD_BYTES = 16 * 1024;
/** The largest report as it is stored, in bytes. */
export const MAX_KEPT_BYTES = MAX_REPORT_BYTES - RECORD_BYTES;

/** Lists of a report, in the order in which they are shortened until it is small enough. */
const SHORTENED = [
  'console',
  'requests',
  'exceptions',
  'missingGlyphs',
  'fonts',
  'observations',
  'accessibility',
  'warnings',
  'waits',
] as const;

/** The stored report of a render; the rest of a report comes from the record of the job. */
function reportBody(findings: Findings, error: JobError | null) {
  const { requests, engine, phases, truncated, picture, pages, size, seal } = findings;
  const { console, exceptions, fonts, missingGlyphs, observations, accessibility, waits } = findings;
  const names = new Set(truncated);
  if (requests.cut) names.add('requests');
  return {
    engine,
    phases: Object.entries(phases ?? {}).map(([name, ms]) => ({ name, ms: Math.round(ms) })),
    requests: requests.entries.map(({ host: _, main: __, ...request }) => request),
    console,
    exceptions,
    fonts,
    missingGlyphs,
    observations,
    accessibility,
    waits,
    // The PDF of a render that failed after printing is not kept.
    pages: error === null ? pages : 0,
    size: error === null ? size : 0,
    seal: seal === undefined || error !== null ? null : shownSeal(seal),
    error: error && { code: error.code, message: findings.redactor.text(error.message) },
    picture: picture ?? null,
    warnings: warningsOf(findings),
    truncated: [...names],
  };
}

function shownSeal({ validUntil, timestamp, ...seal }: SealFacts) {
  return {
    ...seal,
    validUntil: new Date(validUntil).toISOString(),
    timestamp:
      timestamp === undefined ? null : { ...timestamp, time: new Date(timestamp.time).toISOString() },
  };
}

/** Serializes a report. Its lists are bounded; if it is too large still, they are halved and named in `truncated`. */
export function serializedReport(findings: Findings, error: JobError | null): Buffer {
  const body = reportBody(findings, error);
  let bytes = Buffer.from(JSON.stringify(body));
  for (const list of SHORTENED) {
    while (bytes.byteLength > MAX_KEPT_BYTES && body[list].length > 0) {
      Object.assign(body, { [list]: body[list].slice(0, Math.floor(body[list].length / 2)) });
      if (!body.truncated.includes(list)) body.truncated.push(list);
      bytes = Buffer.from(JSON.stringify(body));
    }
  }
  return bytes;
}

/** The report of an ended job without findings of its last attempt, from the record of the job. */
export function reportWithoutFindings(job: Job): ReportBody {
  const findings = new Findings();
  findings.phases = attemptsOf(job).at(-1)?.phases ?? undefined;
  findings.pages = job.output?.pages ?? 0;
  findings.size = pdfSize(job);
  for (const list of SHORTENED) findings.truncated.add(list);
  const warnings = [`${reasonOfLoss(job)}: only its attempts are known`];
  return { ...reportBody(findings, job.error), warnings };
}

function reasonOfLoss(job: Job): string {
  const { state, endedFrom, error } = job;
  if (error?.code === 'WORKER_LOST') return 'the worker of this render was lost, with what it had found out';
  if (state === 'cancelled') return 'this render was cancelled';
  if (endedFrom !== 'processing') return 'this render ended while it waited';
  // An attempt with known phases has reached the browser.
  if (attemptsOf(job).at(-1)?.phases) return 'what was found out about this render could not be stored';
  return 'this render failed before its document was loaded';
}

export type ReportBody = ReturnType<typeof reportBody>;
