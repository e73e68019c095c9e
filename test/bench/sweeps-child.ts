/** A controller or a dispatcher of sweeps.ts: does what it is told to, when it is told to. */
import { setTimeout as sleep } from 'node:timers/promises';
import { keepHeapSmall } from '../../src/infra/overload/heap-growth.ts';
import { AccountPlans } from '../../src/tenants/accounts/account-plans.ts';
import { AccountStore } from '../../src/tenants/accounts/account-store.ts';
import { DEFAULT_PLANS } from '../../src/tenants/plans/plan.ts';
import { HeldPlans } from '../../src/tenants/plans/plan-source.ts';
import { AccountLoads, loadOf } from '../../src/work/jobs/account-loads.ts';
import { measureDemand, readPoolDemand } from '../../src/work/jobs/demand.ts';
import { LedgerLoads } from '../../src/work/jobs/ledger/ledger-loads.ts';
import { openLedgers } from '../../src/work/jobs/ledger/ledger-record.ts';
import { DueLedgersSweep } from '../../src/work/jobs/sweeps/due-ledgers.ts';
import { WaitingJobs } from '../../src/work/jobs/sweeps/waiting-jobs.ts';
import { type Domain, openDomain } from '../support/domain.ts';
import { memoryOf } from './controller-samples.ts';
import { median } from './load.ts';

export interface Task {
  /** `whole`, `changes`: samples of the demand; `overdue`: the sweep, until nothing is due. */
  readonly kind: 'whole' | 'changes' | 'overdue';
  readonly uri: string;
}

export interface Answer {
  /** Of one sample, or of the whole sweep. */
  readonly ms: number;
  /** The most memory above that before. */
  readonly mb: number;
  readonly repaired: number;
}

const SAMPLES = 12;
/** Accounts whose ledgers change between two samples: as many as have jobs in a second at ten million a day, five times. */
const CHANGED = 579;

// As the controller does.
keepHeapSmall();
const { kind, uri } = JSON.parse(process.argv[2]!) as Task;
const domain = await openDomain({ uri });
const tasks: Readonly<Record<Task['kind'], () => Promise<{ ms: number; repaired: number }>>> = {
  whole: () => sample(wholeReader(domain)),
  changes: () => sample(changesReader(domain)),
  overdue: () => sweep(domain),
};
process.send!('ready');
await new Promise((resolve) => process.once('message', resolve));
const before = memoryOf(process.pid).nowMb;
const done = await tasks[kind]();
process.send!({ ...done, mb: memoryOf(process.pid).peakMb - before } satisfies Answer);

function plansOf({ connection, clock }: Domain): AccountPlans {
  const plans = new HeldPlans({ plans: new Map(Object.entries(DEFAULT_PLANS)), pools: new Map() });
  return new AccountPlans(new AccountStore(connection, clock), plans);
}

function wholeReader(whole: Domain): () => Promise<unknown> {
  const plans = plansOf(whole);
  return async () => {
    const ledgers = await whole.ledger.active();
    const named = await plans.plansOf(ledgers.map(({ _id }) => _id));
    return measureDemand(ledgers.map(loadOf), ({ accountId }) => named.get(accountId));
  };
}

function changesReader(changing: Domain): () => Promise<unknown> {
  const { connection, clock, registry: workers } = changing;
  const loads = new AccountLoads({
    ledgers: new LedgerLoads(openLedgers(connection)),
    plans: plansOf(changing),
    clock,
  });
  return () => readPoolDemand({ loads, workers, clock });
}

/** The median of all samples but the first. */
async function sample(read: () => Promise<unknown>): Promise<{ ms: number; repaired: number }> {
  const ledgers = domain.connection.collection<{ _id: string }>('ledgers');
  const ids = (await ledgers.find({}, { projection: { _id: 1 }, limit: CHANGED }).toArray()).map(
    ({ _id }) => _id,
  );
  const times: number[] = [];
  for (let i = 0; i < SAMPLES; i += 1) {
    const began = performance.now();
    await read();
    if (i > 0) times.push(performance.now() - began);
    await ledgers.updateMany(
      { _id: { $in: ids } },
      { $currentDate: { changedAt: true }, $inc: { revision: 1 } },
    );
    await sleep(1000);
  }
  return { ms: median(times), repaired: 0 };
}

async function sweep(swept: Domain): Promise<{ ms: number; repaired: number }> {
  const due = new DueLedgersSweep({
    ...swept,
    due: swept.dueLedgers,
    waitingJobs: new WaitingJobs(swept),
    redeliveryMs: 5000,
    retryBaseMs: 1000,
    random: Math.random,
    onRetried: () => undefined,
  });
  const began = performance.now();
  let repaired = 0;
  for (;;) {
    const now = await due.run();
    repaired += now;
    if (now === 0) break;
  }
  return { ms: performance.now() - began, repaired };
}
