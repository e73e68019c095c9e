import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import mongoose from 'mongoose';
import { eventually } from '../support/eventually.ts';
import { whatIsHeld } from '../support/held.ts';
import { startKafka } from '../support/kafka.ts';
import { processesWith } from '../support/processes.ts';
import { openKafkaService, SHORT_LEASE, type TestService } from '../support/service.ts';
import { type ChaosAccount, openAccount, writePlans } from './accounts.ts';
import { checkJobs, countLive, usageErrors } from './checks.ts';
import { Findings } from './findings.ts';
import { keepKilling, ROLES } from './kills.ts';
import { makeSubmissions, repeat, type Submission, submit } from './submissions.ts';

const ACCOUNTS = ['alpha', 'beta', 'gamma'];
const SUBMISSIONS_PER_SECOND = 7;

export interface ChaosRun {
  readonly seed: number;
  readonly submissions: number;
  /** Longest time from the first submission to the end of the last job. */
  readonly limitMs: number;
  readonly log: (line: string) => void;
}

/**
 * Two APIs, two workers and a dispatcher over a real Kafka take submissions of several accounts, while every two
 * seconds something is killed. Each submission is repeated with its key until it gets a response.
 *
 * @returns the findings after that, one line each.
 */
export async function runChaos({
  seed,
  submissions: count,
  limitMs,
  log,
}: ChaosRun): Promise<readonly string[]> {
  const findings = new Findings();
  const plans = await writePlans();
  const mark = randomUUID();
  const kafka = await startKafka();
  const service = await openKafkaService(
    { ...SHORT_LEASE, PLATEN_PLANS_FILE: plans, PLATEN_TEST_RUN: mark },
    ROLES,
    kafka,
  );
  try {
    const urls = ['api-1', 'api-2'].map((name) => service.roles.get(name)!.url);
    const accounts = await Promise.all(ACCOUNTS.map((name) => openAccount(name, urls)));
    const began = performance.now();
    const say = (line: string) => log(`${((performance.now() - began) / 1000).toFixed(1)} s  ${line}`);
    const spreadMs = Math.ceil((count / SUBMISSIONS_PER_SECOND) * 1000);
    const submissions = makeSubmissions(seed, count, spreadMs, accounts);
    const outOfTime = AbortSignal.timeout(limitMs);

    const killing = keepKilling({ service, kafka }, seed, AbortSignal.timeout(spreadMs), findings, say);
    const responses = await Promise.all(
      submissions.map(async (submission) => {
        await sleep(submission.atMs);
        return submit(submission, findings, outOfTime);
      }),
    );
    await killing;
    say('every submission has its response, and everything is up');
    const placed = responses.filter((response) => response !== undefined);
    await untilOver(accounts, outOfTime, findings);
    say('every job has ended');
    await check(service, accounts, placed, findings);
    say(`checked; ${findings.counted()}; most requests for a submission: ${mostTries(placed)}`);
  } finally {
    await service.stop().catch((error: Error) => findings.add('stop', error.message));
    await kafka.stop();
    await rm(dirname(plans), { recursive: true, force: true });
  }
  for (const { pid, command } of processesWith(`PLATEN_TEST_RUN=${mark}`)) {
    findings.add('left over', `process ${pid} ${command.slice(0, 120)}`);
  }
  return findings.lines;
}

async function untilOver(
  accounts: readonly ChaosAccount[],
  signal: AbortSignal,
  findings: Findings,
): Promise<void> {
  for (const account of accounts) {
    let live = await countLive(account);
    while (live > 0 && !signal.aborted) {
      await sleep(500);
      live = await countLive(account);
    }
    if (live > 0) findings.add(account.name, `${live} jobs have not ended in time`);
  }
}

async function check(
  service: TestService,
  accounts: readonly ChaosAccount[],
  placed: readonly Submission[],
  findings: Findings,
): Promise<void> {
  const submissionsOf = (account: ChaosAccount) =>
    placed.filter(({ submission }) => submission.account === account);
  const failed = new Map<ChaosAccount, number>();
  for (const account of accounts) {
    for (const submission of submissionsOf(account)) await repeat(submission, findings);
    failed.set(account, await checkJobs(account, submissionsOf(account), findings));
  }
  const connection = await mongoose.createConnection(service.mongodbUri).asPromise();
  const inspection = async () => {
    const errors = accounts.map((account) =>
      usageErrors(
        account,
        submissionsOf(account).length,
        failed.get(account) ?? 0,
        findings.rejectionsOf(account.name),
      ),
    );
    return (await Promise.all([...errors, whatIsHeld(connection)])).flat();
  };
  try {
    for (const problem of await settled(inspection)) findings.add('at rest', problem);
  } finally {
    await connection.close();
  }
}

/** The findings that remain once delayed writes have had their time. */
async function settled(inspection: () => Promise<string[]>): Promise<string[]> {
  const isSettled = async () => (await inspection()).length === 0;
  await eventually('settled', isSettled).catch(() => undefined);
  return inspection();
}

function mostTries(placed: readonly Submission[]): number {
  return Math.max(...placed.map(({ tries }) => tries));
}
