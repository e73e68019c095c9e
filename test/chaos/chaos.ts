import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import mongoose from 'mongoose';
import { eventually } from '../support/eventually.ts';
import { whatIsHeld } from '../support/held.ts';
import { processesWith } from '../support/processes.ts';
import { openKafkaService, type TestService } from '../support/service.ts';
import { type ChaosAccount, openAccount, writePlans } from './accounts.ts';
import { checkJobs, countLive, usageFaults } from './checks.ts';
import { Findings } from './findings.ts';
import { keepKilling, ROLES } from './kills.ts';
import { makeOrders, type PlacedOrder, place, repeat } from './orders.ts';

const ACCOUNTS = ['alpha', 'beta', 'gamma'];
const ORDERS_PER_SECOND = 7;
/** For what is written a little later: usage, slots of the last job. */
const SETTLED_WITHIN_MS = 20_000;

export interface ChaosRun {
  readonly seed: number;
  readonly orders: number;
  /** Longest time from the first order to the end of the last job. */
  readonly limitMs: number;
  readonly log: (line: string) => void;
}

/**
 * Two APIs, two workers and a dispatcher over a real Kafka take orders of several accounts, while every two seconds
 * something is killed. Each order is repeated with its key until it is answered.
 *
 * @returns what is not as it should be afterwards, one line each.
 */
export async function runChaos({ seed, orders: count, limitMs, log }: ChaosRun): Promise<readonly string[]> {
  const findings = new Findings();
  const plans = await writePlans();
  const mark = randomUUID();
  const service = await openKafkaService({ PLATEN_PLANS_FILE: plans, PLATEN_TEST_RUN: mark }, ROLES);
  try {
    const urls = ['api-1', 'api-2'].map((name) => service.roles.get(name)!.url);
    const accounts = await Promise.all(ACCOUNTS.map((name) => openAccount(name, urls)));
    const began = performance.now();
    const say = (line: string) => log(`${((performance.now() - began) / 1000).toFixed(1)} s  ${line}`);
    const spreadMs = Math.ceil((count / ORDERS_PER_SECOND) * 1000);
    const orders = makeOrders(seed, count, spreadMs, accounts);
    const outOfTime = AbortSignal.timeout(limitMs);

    const killing = keepKilling(service, seed, AbortSignal.timeout(spreadMs), findings, say);
    const answers = await Promise.all(
      orders.map(async (order) => {
        await sleep(order.atMs);
        return place(order, findings, outOfTime);
      }),
    );
    await killing;
    say('every order is answered, and everything is up');
    const placed = answers.filter((answer) => answer !== undefined);
    await untilOver(accounts, outOfTime, findings);
    say('every job has ended');
    await check(service, accounts, placed, findings);
    say(`checked; ${findings.counted()}; most requests for an order: ${mostTries(placed)}`);
  } finally {
    await service.stop().catch((error: Error) => findings.add('stop', error.message));
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
  placed: readonly PlacedOrder[],
  findings: Findings,
): Promise<void> {
  const ordersOf = (account: ChaosAccount) => placed.filter(({ order }) => order.account === account);
  const failed = new Map<ChaosAccount, number>();
  for (const account of accounts) {
    for (const order of ordersOf(account)) await repeat(order, findings);
    failed.set(account, await checkJobs(account, ordersOf(account), findings));
  }
  const connection = await mongoose.createConnection(service.mongodbUri).asPromise();
  const look = async () => {
    const faults = accounts.map((account) =>
      usageFaults(
        account,
        ordersOf(account).length,
        failed.get(account) ?? 0,
        findings.refusalsOf(account.name),
      ),
    );
    return (await Promise.all([...faults, whatIsHeld(connection)])).flat();
  };
  try {
    for (const fault of await settled(look)) findings.add('at rest', fault);
  } finally {
    await connection.close();
  }
}

/** The faults that remain once what is written a little later had its time. */
async function settled(look: () => Promise<string[]>): Promise<string[]> {
  const isSettled = async () => (await look()).length === 0;
  await eventually('settled', isSettled, SETTLED_WITHIN_MS).catch(() => undefined);
  return look();
}

function mostTries(placed: readonly PlacedOrder[]): number {
  return Math.max(...placed.map(({ tries }) => tries));
}
