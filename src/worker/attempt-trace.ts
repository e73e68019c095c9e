import type { Span, Tracing } from '../infra/tracing/tracing.ts';
import { RENDER_PHASES, type RenderReport } from '../render/report/phases.ts';
import { attributesOf, startAttemptSpan } from '../work/jobs/attempt-span.ts';
import type { Job } from '../work/jobs/job.ts';

/** How an attempt ended. */
interface AttemptOutcome {
  readonly outcome: 'completed' | 'retried' | 'failed' | 'returned' | 'dropped';
  readonly code?: string;
  readonly pages?: number;
  /** Of the PDF. */
  readonly bytes?: number;
}

/**
 * The spans of one attempt, made of times that are measured for its report anyway:
 *
 *    waiting  from the request, or the end of the failed attempt before, to the claim
 *    attempt  claim, page, load, wait, print, finish and store
 */
export interface AttemptTrace {
  /** The renderer is called now. */
  renders(): void;
  /** It has printed, or has failed. */
  rendered(report: RenderReport): void;
  /** The output has been stored since `began`, in epoch milliseconds. */
  stored(began: number): void;
  /** How it ends; the last call counts. */
  ends(outcome: AttemptOutcome): void;
  /** It has ended. */
  end(): void;
}

const NO_TRACE: AttemptTrace = { renders() {}, rendered() {}, stored() {}, ends() {}, end() {} };

/** @param job as it has just been claimed. */
export function traceAttempt(tracing: Tracing, job: Job): AttemptTrace {
  const { trace, startedAt } = job;
  if (!tracing.on || trace === undefined || startedAt === null) return NO_TRACE;
  const begin = startedAt.getTime();
  tracing
    .startSpan('waiting', { parent: trace, startTime: waitingSince(job), attributes: attributesOf(job) })
    .end({ endTime: begin });
  const span = startAttemptSpan(tracing, job, trace);
  const { context: parent } = span;
  const part = (name: string, startTime: number, endTime: number) =>
    tracing.startSpan(name, { parent, startTime }).end({ endTime });
  part('claim', begin, Date.now());
  return new SpansOfAttempt(span, part);
}

class SpansOfAttempt implements AttemptTrace {
  readonly #span: Span;
  readonly #part: (name: string, startTime: number, endTime: number) => void;
  #renderBegan = 0;
  #outcome: AttemptOutcome = { outcome: 'dropped' };

  constructor(span: Span, part: (name: string, startTime: number, endTime: number) => void) {
    this.#span = span;
    this.#part = part;
  }

  renders(): void {
    this.#renderBegan = Date.now();
  }

  rendered({ phases }: RenderReport): void {
    let at = this.#renderBegan;
    for (const phase of RENDER_PHASES) {
      const ms = phases[phase];
      // A render that failed has not reached the other phases.
      if (ms > 0) this.#part(phase, at, at + ms);
      at += ms;
    }
  }

  stored(began: number): void {
    this.#part('store', began, Date.now());
  }

  ends(outcome: AttemptOutcome): void {
    this.#outcome = outcome;
  }

  end(): void {
    const { outcome, code, pages, bytes } = this.#outcome;
    this.#span.end({
      attributes: {
        'platen.outcome': outcome,
        'error.type': code,
        'platen.pages': pages,
        'platen.bytes': bytes,
      },
      error: code,
    });
  }
}

/** Epoch milliseconds. Of the clock of another machine, perhaps. */
function waitingSince({ createdAt, failedAttempts = [], startedAt }: Job): number {
  const since = failedAttempts.at(-1)?.endedAt ?? createdAt;
  return Math.min(since.getTime(), startedAt!.getTime());
}
