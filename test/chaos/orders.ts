import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Answer } from '../support/send.ts';
import type { ChaosAccount } from './accounts.ts';
import type { Findings } from './findings.ts';
import { KILL_EVERY_MS } from './kills.ts';
import { pick, seeded } from './random.ts';

/** Keeps the numbers that make the orders apart from those that choose the kills. */
const SALT = 0x0bde5;
const PAUSE_MS = 250;
/** Around each kill, so that requests are under way when it comes. */
const BURST_MS = 150;

export interface ChaosOrder {
  /** Its idempotency key, which is also printed in its PDF and named in its file name. */
  readonly key: string;
  readonly number: number;
  readonly account: ChaosAccount;
  /** Milliseconds from the beginning of the run. */
  readonly atMs: number;
  readonly isAsync: boolean;
  readonly body: Readonly<Record<string, unknown>>;
}

/** An order whose caller has got an answer. */
export interface PlacedOrder {
  readonly order: ChaosOrder;
  readonly status: 200 | 202;
  readonly jobId: string;
  /** Hex SHA-256 of the PDF that it was answered with, if it was. */
  readonly pdf: string | undefined;
  /** Requests until then. */
  readonly tries: number;
}

/** What an answer says of an order, once it has been held against what was ordered. */
type Told = Pick<PlacedOrder, 'jobId' | 'pdf'>;

/**
 * A mix of everything that an order may be: half of them spread evenly over the time, half of them at the moments of the
 * kills. The same for the same seed.
 */
export function makeOrders(
  seed: number,
  count: number,
  spreadMs: number,
  accounts: readonly ChaosAccount[],
): ChaosOrder[] {
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
 * Sends an order with its key, to one API after the other, until it is answered.
 *
 * @returns undefined when it was refused for good, which is a finding, or the time was up.
 */
export async function place(
  order: ChaosOrder,
  findings: Findings,
  signal: AbortSignal,
): Promise<PlacedOrder | undefined> {
  const { key, account } = order;
  for (let tries = 1; !signal.aborted; tries += 1) {
    const caller = account.callers[(order.number + tries) % account.callers.length]!;
    let answer: Answer;
    try {
      answer = await caller.render(order.body, { 'idempotency-key': key });
    } catch {
      // Its API is down, or was killed before it answered.
      await sleep(PAUSE_MS);
      continue;
    }
    findings.count(`${answer.status}`);
    if (answer.status === 503) findings.refused(account.name);
    if (answer.status === 200 || answer.status === 202) {
      const told = checkAnswer(order, answer, `try ${tries}`, findings);
      return told && { ...told, order, status: answer.status, tries };
    }
    const { code } = answer.json;
    const isToBeRepeated = code === 'IDEMPOTENCY_IN_PROGRESS' || code === 'UNAVAILABLE';
    if (!isToBeRepeated) findings.add(key, `try ${tries} was answered ${answer.status} ${code}`);
    if (!isToBeRepeated && answer.status < 500) return undefined;
    await sleep(PAUSE_MS);
  }
  findings.add(key, 'was not answered in time');
  return undefined;
}

/** Sends an order once more after everything has ended: the first answer has to come again. */
export async function repeat(placed: PlacedOrder, findings: Findings): Promise<void> {
  const { order, status, jobId } = placed;
  const caller = order.account.callers[order.number % order.account.callers.length]!;
  const answer = await caller.render(order.body, { 'idempotency-key': order.key });
  const again = checkAnswer(order, answer, 'its repetition', findings);
  if (answer.status !== status) {
    findings.add(order.key, `was answered ${status} at first and ${answer.status} when repeated`);
  }
  if (again !== undefined && again.jobId !== jobId) {
    findings.add(order.key, `was given job ${jobId} at first and job ${again.jobId} when repeated`);
  }
  if (again?.pdf !== placed.pdf) findings.add(order.key, 'was given another PDF when it was repeated');
}

/** Holds an answer against what the order asked for. @returns undefined when it names no job. */
function checkAnswer(order: ChaosOrder, answer: Answer, which: string, findings: Findings): Told | undefined {
  const type = answer.headers.get('content-type') ?? '';
  const isEnvelope = answer.status === 202 && type.startsWith('application/json');
  if (order.isAsync && !isEnvelope) {
    findings.add(order.key, `is asynchronous, and ${which} was answered ${answer.status} ${type}`);
  }
  const wanted = order.body.output === 'url' ? 'application/json' : 'application/pdf';
  if (answer.status === 200 && !type.startsWith(wanted)) {
    findings.add(order.key, `${which} was answered 200 ${type} in place of ${wanted}`);
  }
  const jobId: unknown = isEnvelope ? answer.json.jobId : answer.headers.get('x-service-job-id');
  if (typeof jobId === 'string') {
    return { jobId, pdf: type.startsWith('application/pdf') ? sha256(answer.bytes) : undefined };
  }
  findings.add(order.key, `${which} was answered ${answer.status} without a job`);
  return undefined;
}

export function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
