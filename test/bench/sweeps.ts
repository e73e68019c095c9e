/**
 * What an installation with many active accounts costs the controller and the dispatchers, on the embedded database:
 *
 * - a sample of the demand of 50,000 accounts, read by what has changed, and the same with all ledgers read whole, as a
 *   reference, in turn; each in a process of its own, whose memory is measured;
 * - how long one dispatcher and two take for ledgers in each of which a slot was left by a crash, in turn, over a way to the
 *   database that holds each response back;
 * - how many jobs a second are deleted whose retention has ended;
 * - how many commands a second a dispatcher over Kafka sends while nothing happens.
 *
 * BENCH_ACCOUNTS (default 50000), BENCH_OVERDUE (default 2000), BENCH_ROUNDS (default 3), BENCH_SECONDS (default 120, of
 * the last one). Alone: `BENCH_PART=sweeps make bench`.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createGridFsOutputStore } from '../../src/infra/outputs/gridfs.ts';
import { outputKey } from '../../src/infra/outputs/output-store.ts';
import { newJobId } from '../../src/work/jobs/new-job.ts';
import { endRetention } from '../../src/work/jobs/sweeps/retention.ts';
import { openCountedWay } from '../support/counted-way.ts';
import { type Domain, newJob, openDomain } from '../support/domain.ts';
import { startKafka } from '../support/kafka.ts';
import { startMongo, stopMongo } from '../support/mongo.ts';
import { openKafkaService } from '../support/service.ts';
import { median } from './load.ts';
import { onDatabase } from './on-database.ts';
import type { Answer, Task } from './sweeps-child.ts';

const ACCOUNTS = Number(process.env.BENCH_ACCOUNTS ?? 50_000);
const OVERDUE = Number(process.env.BENCH_OVERDUE ?? 2000);
/** How long each response is held back, so that dispatchers wait for the database, which has processors of its own elsewhere. */
const AWAY_MS = 20;
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 3);
const SECONDS = Number(process.env.BENCH_SECONDS ?? 120);
const TARGETS = { demandMs: 100, demandMb: 64, perSecond: 1, secondDispatcher: 0.5 };
const EXPIRED = 10_000;
const EXPIRED_ACCOUNTS = 400;
const BATCH = 2000;
/** After the start of a dispatcher, until it is at rest. */
const SETTLED_MS = 180_000;
const CRASHED_MS = 11_000;

const CHILD = fileURLToPath(new URL('sweeps-child.ts', import.meta.url));

/** Does something in a process of its own, which has said that it is ready before it is told to begin. */
async function openChild(task: Task) {
  const child = fork(CHILD, [JSON.stringify(task)]);
  await once(child, 'message');
  return async (): Promise<Answer> => {
    child.send('begin');
    const [answer] = (await once(child, 'message')) as [Answer];
    child.kill();
    return answer;
  };
}

async function fillLedgers(domain: Domain): Promise<void> {
  const ledgers = domain.connection.collection<{ _id: string }>('ledgers');
  const accounts = domain.connection.collection<{ _id: string }>('accounts');
  const plans = ['free', 'starter', 'professional', 'business'];
  for (let from = 0; from < ACCOUNTS; from += BATCH) {
    const ids = Array.from({ length: Math.min(BATCH, ACCOUNTS - from) }, (_, i) => from + i);
    const now = Date.now();
    await accounts.insertMany(ids.map((i) => ({ _id: accountId(i), plan: plans[i % plans.length] })));
    await ledgers.insertMany(
      ids.map((i) => ({
        ...{ _id: accountId(i), revision: 9, active: true, inFlight: 1, waiting: i % 5, stored: 12_345 },
        holders: { [newJobId()]: { since: now, quota: '2026-11' } },
        queues: { bulk: { head: 40, tail: 40 + (i % 5) } },
        quota: { '2026-11': 512 },
        ...{ dueAt: new Date(now + 3_600_000), changedAt: new Date(now - 60_000) },
      })),
    );
  }
}

const accountId = (i: number) => `00000000-0000-7000-8000-${String(i).padStart(12, '0')}`;

async function demand(): Promise<void> {
  await onDatabase(async ({ uri }) => {
    const domain = await openDomain({ uri });
    await fillLedgers(domain);
    const figures: Record<'changes' | 'whole', Answer[]> = { changes: [], whole: [] };
    for (let round = 0; round < ROUNDS; round += 1)
      for (const kind of ['whole', 'changes'] as const)
        figures[kind].push(await (await openChild({ kind, uri }))());
    const of = (kind: 'changes' | 'whole', figure: (answer: Answer) => number) =>
      median(figures[kind].map(figure));
    console.log(`\nA sample of the demand of ${ACCOUNTS} accounts (median of ${ROUNDS} processes)`);
    for (const kind of ['whole', 'changes'] as const) {
      const name = kind === 'whole' ? 'all ledgers read whole  ' : 'what has changed is read';
      console.log(
        `  ${name} ${of(kind, ({ ms }) => ms).toFixed(0)} ms, ${of(kind, ({ mb }) => mb).toFixed(0)} MB more memory`,
      );
    }
    console.log(`  at most ${TARGETS.demandMs} ms and ${TARGETS.demandMb} MB are wanted`);
    await domain.close();
  });
}

async function overdue(): Promise<void> {
  const times: Record<1 | 2, number[]> = { 1: [], 2: [] };
  const shares: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const dispatchers of [1, 2] as const) {
      await onDatabase(async ({ uri }) => {
        const domain = await openDomain({ uri });
        const since = Date.now() - CRASHED_MS;
        const ledgers = domain.connection.collection<{ _id: string }>('ledgers');
        for (let from = 0; from < OVERDUE; from += BATCH) {
          await ledgers.insertMany(
            Array.from({ length: Math.min(BATCH, OVERDUE - from) }, (_, i) => ({
              ...{ _id: accountId(from + i), revision: 1, active: true, inFlight: 1, waiting: 0 },
              ...{ holders: { [newJobId()]: { since } }, dueAt: new Date(since + 5000) },
            })),
          );
        }
        const way = await openCountedWay(uri, AWAY_MS);
        const begin = await Promise.all(
          Array.from({ length: dispatchers }, () => openChild({ kind: 'overdue', uri: way.uri })),
        );
        const answers = await Promise.all(begin.map((each) => each()));
        times[dispatchers].push(Math.max(...answers.map(({ ms }) => ms)));
        if (dispatchers === 2) shares.push(Math.min(...answers.map(({ repaired }) => repaired)) / OVERDUE);
        const left = await ledgers.countDocuments({ inFlight: 1 });
        if (left > 0) throw new Error(`${left} ledgers are left.`);
        way.close();
        await domain.close();
      });
    }
  }
  const [one, two] = [median(times[1]), median(times[2])];
  console.log(`\n${OVERDUE} ledgers with a slot that a crash has left, ${AWAY_MS} ms away`);
  console.log(`  one dispatcher ${(one / 1000).toFixed(1)} s, two ${(two / 1000).toFixed(1)} s`);
  console.log(
    `  ${(two / one).toFixed(2)} of the time, ${TARGETS.secondDispatcher} is wanted; the smaller share of the two was ${(100 * median(shares)).toFixed(0)} %`,
  );
}

async function retention(): Promise<void> {
  await onDatabase(async ({ uri }) => {
    const domain = await openDomain({ uri });
    const outputs = createGridFsOutputStore(domain.connection);
    const past = new Date(Date.now() - 60_000);
    const history = domain.connection.collection<{ _id: string }>('job_history');
    const ids = Array.from({ length: EXPIRED }, () => newJobId());
    for (let from = 0; from < EXPIRED; from += BATCH) {
      const some = ids.slice(from, from + BATCH);
      const keys = some.map((id) => outputKey(id, 1, past));
      for (const key of keys) await outputs.put(key, Buffer.alloc(30_000));
      await history.insertMany(
        some.map((id, i) => ({
          ...newJob(accountId((from + i) % EXPIRED_ACCOUNTS), { _id: id }).job,
          ...{ state: 'completed' as const, expiresAt: past, completedAt: past },
          output: { key: keys[i]!, size: 30_000, pages: 1, sha256: '' },
        })),
      );
    }
    const began = performance.now();
    const ended = await endRetention(
      { history: domain.store.history, stored: domain.stored },
      outputs,
      new Date(),
    );
    const seconds = (performance.now() - began) / 1000;
    console.log(
      `\nRetention: ${(ended / seconds).toFixed(0)} jobs a second (${ended} jobs of ${EXPIRED_ACCOUNTS} accounts)`,
    );
    await domain.close();
  });
}

async function atRest(): Promise<void> {
  const kafka = await startKafka();
  const way = await openCountedWay((await startMongo()).uri);
  const settings = { MONGODB_URI: way.uri, PLATEN_SWEEP_MS: '1000', PLATEN_REDELIVERY_MS: '5000' };
  const service = await openKafkaService(settings, ['dispatcher'], kafka);
  await sleep(SETTLED_MS);
  way.take();
  await sleep(SECONDS * 1000);
  const taken = [...way.take()].sort(([, a], [, b]) => b.commands - a.commands);
  const all = taken.reduce((sum, [, { commands }]) => sum + commands, 0);
  const most = taken.slice(0, 6).map(([name, { commands }]) => `${name} ${(commands / SECONDS).toFixed(2)}`);
  console.log(
    `\nA dispatcher over Kafka at rest: ${(all / SECONDS).toFixed(2)} commands a second (${most.join(', ')})`,
  );
  console.log(`  at most ${TARGETS.perSecond} is wanted`);
  await service.stop();
  way.close();
  await kafka.stop();
  await stopMongo();
}

await demand();
await overdue();
await retention();
await atRest();
process.exit(0);
