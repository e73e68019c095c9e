import { DEFAULT_PLANS } from '../../src/tenants/plans/plan.ts';
import { seeded } from '../chaos/random.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

export const TENANTS = 100_000;
/** A render takes 1.3 s in the median and 1.95 s on average: log-normal with σ 0.9, from 0.15 to 30 s. */
const SERVICE = { medianMs: 1300, sigma: 0.9, leastMs: 150, mostMs: 30_000 } as const;

/** All jobs of a trace in the order of their arrival; times in milliseconds. */
export interface Jobs {
  readonly arrival: Float64Array;
  readonly tenant: Uint32Array;
  readonly service: Float64Array;
}

export interface Trace {
  readonly name: string;
  readonly about: string;
  readonly durationMs: number;
  readonly jobs: Jobs;
  /** How many jobs of a tenant may run at a time. */
  readonly capOf: (tenant: number) => number;
  /** From a pod's creation to its first claim, in milliseconds: evenly between the two. */
  readonly startDelay: readonly [number, number];
  /** At `at` every so many-th pod stops with its node. */
  readonly nodeLost?: { readonly at: number; readonly share: number };
  /** One tenant's or many tenants' sudden work: the traces that the targets for bursts are about. */
  readonly burst: boolean;
}

interface Plan {
  readonly below: number;
  readonly cap: number;
}

/** Tenants with small numbers order more, and have the larger plans. */
const PLANS: readonly Plan[] = [
  { below: TENANTS * 0.01, cap: DEFAULT_PLANS.business.concurrentRenders },
  { below: TENANTS * 0.05, cap: DEFAULT_PLANS.professional.concurrentRenders },
  { below: TENANTS * 0.2, cap: DEFAULT_PLANS.starter.concurrentRenders },
  { below: TENANTS, cap: DEFAULT_PLANS.free.concurrentRenders },
];

export function capOf(tenant: number): number {
  return PLANS.find(({ below }) => tenant < below)?.cap ?? 1;
}

/** Collects the jobs of a trace in any order. */
class Submissions {
  readonly random: () => number;
  readonly #rows: { at: number; tenant: number; service: number }[] = [];

  constructor(seed: number) {
    this.random = seeded(seed);
  }

  add(at: number, tenant: number): void {
    this.#rows.push({ at, tenant, service: this.#service() });
  }

  /** Arrivals by a Poisson process whose rate per second follows `rate`, which is never above `most`. */
  flow(from: number, until: number, most: number, rate: (at: number) => number): void {
    for (let at = from; ; ) {
      at -= (Math.log(1 - this.random()) / most) * SECOND;
      if (at >= until) return;
      if (this.random() * most < rate(at)) this.add(at, this.#anyTenant());
    }
  }

  /** So many jobs of one tenant at once, as one batch after the other. */
  batches(at: number, tenant: number, jobs: number): void {
    for (let number = 0; number < jobs; number += 1) this.add(at + number * 2, tenant);
  }

  normal(): number {
    return Math.sqrt(-2 * Math.log(1 - this.random())) * Math.cos(2 * Math.PI * this.random());
  }

  jobs(): Jobs {
    const rows = this.#rows.sort((a, b) => a.at - b.at);
    return {
      arrival: Float64Array.from(rows, ({ at }) => at),
      tenant: Uint32Array.from(rows, ({ tenant }) => tenant),
      service: Float64Array.from(rows, ({ service }) => service),
    };
  }

  /** A hundredth of the tenants orders a fifth of everything. */
  #anyTenant(): number {
    return Math.floor(TENANTS * this.random() ** 3);
  }

  #service(): number {
    const { medianMs, sigma, leastMs, mostMs } = SERVICE;
    return Math.min(mostMs, Math.max(leastMs, medianMs * Math.exp(sigma * this.normal())));
  }
}

const SOON: Trace['startDelay'] = [15 * SECOND, 25 * SECOND];

function steady(submissions: Submissions, scale: number): Omit<Trace, 'jobs'> {
  const durationMs = 2 * HOUR * scale;
  submissions.flow(0, durationMs, 30, () => 30);
  return {
    name: 'steady',
    about: '30 jobs a second for two hours.',
    durationMs,
    capOf,
    startDelay: SOON,
    burst: false,
  };
}

function dailyWave(submissions: Submissions, scale: number): Omit<Trace, 'jobs'> {
  const durationMs = 24 * HOUR * scale;
  const hump = (hour: number, at: number, width: number) => Math.exp(-(((hour - at) / width) ** 2));
  const rate = (at: number) => {
    const hour = (at / durationMs) * 24;
    return 1 + 14 * hump(hour, 10, 2.2) + 12 * hump(hour, 15, 2.5) + 3 * hump(hour, 20.5, 1.5);
  };
  submissions.flow(0, durationMs, 20, rate);
  return {
    name: 'daily-wave',
    about: 'A working day: one job a second at night, humps of 15 at ten, 13 at three and 4 in the evening.',
    durationMs,
    capOf,
    startDelay: SOON,
    burst: false,
  };
}

function oneTenantsBurst(submissions: Submissions, scale: number): Omit<Trace, 'jobs'> {
  const durationMs = 90 * MINUTE * scale;
  submissions.flow(0, durationMs, 5, () => 5);
  submissions.batches(durationMs * 0.1, TENANTS - 1, 50);
  submissions.batches(durationMs * 0.25, TENANTS * 0.1, 500);
  submissions.batches(durationMs * 0.45, 7, Math.round(10_000 * scale));
  return {
    name: 'one-tenants-burst',
    about:
      '5 jobs a second, and at once 50 jobs of a free account after 9 minutes, 500 of a starter account after 22, and 10,000 of a business account after 40.',
    durationMs,
    capOf,
    startDelay: SOON,
    burst: true,
  };
}

/** Batches of tenants of all plans. */
function monday(submissions: Submissions, scale: number): Omit<Trace, 'jobs'> {
  const durationMs = 2 * HOUR * scale;
  const groups = [
    { tenants: 500, from: TENANTS * 0.5, items: 10 },
    { tenants: 350, from: TENANTS * 0.1, items: 50 },
    { tenants: 120, from: TENANTS * 0.02, items: 250 },
    { tenants: 30, from: 0, items: 1000 },
  ];
  const rate = (at: number) => 2 + 8 * Math.min(1, at / (durationMs / 2));
  submissions.flow(0, durationMs, 10, rate);
  for (const { tenants, from, items } of groups) {
    for (let number = 0; number < tenants * scale; number += 1) {
      const at = durationMs / 2 + submissions.normal() * durationMs * 0.06;
      submissions.batches(Math.min(durationMs * 0.8, Math.max(0, at)), from + number, items);
    }
  }
  return {
    name: 'thousand-tenants-monday',
    about:
      'From 2 to 10 jobs a second within an hour, and round about its end a batch each of 500 free, 350 starter, 120 professional and 30 business accounts (82,500 jobs; normal, σ 7 minutes).',
    durationMs,
    capOf,
    startDelay: SOON,
    burst: true,
  };
}

function slowPods(submissions: Submissions, scale: number): Omit<Trace, 'jobs'> {
  const durationMs = 2 * HOUR * scale;
  const rate = (at: number) => (at > durationMs * 0.25 && at < durationMs * 0.6 ? 20 : 6);
  submissions.flow(0, durationMs, 20, rate);
  return {
    name: 'pods-slow-to-start',
    about: '6 jobs a second, 20 from the 30th to the 72nd minute; pods need 2 to 3 minutes (new nodes).',
    durationMs,
    capOf,
    startDelay: [2 * MINUTE, 3 * MINUTE],
    burst: false,
  };
}

function nodeLost(submissions: Submissions, scale: number): Omit<Trace, 'jobs'> {
  const durationMs = HOUR * scale;
  submissions.flow(0, durationMs, 20, () => 20);
  return {
    name: 'node-lost',
    about: '20 jobs a second; after 20 minutes a node is lost with a third of the pods.',
    durationMs,
    capOf,
    startDelay: SOON,
    nodeLost: { at: durationMs / 3, share: 1 / 3 },
    burst: false,
  };
}

const MAKERS = { steady, dailyWave, oneTenantsBurst, monday, slowPods, nodeLost };
export type TraceKey = keyof typeof MAKERS;
export const TRACES = Object.keys(MAKERS) as TraceKey[];

/** @param scale below 1 shortens the trace, its bursts with it. */
export function makeTrace(key: TraceKey, seed: number, scale = 1): Trace {
  const submissions = new Submissions(seed * 31 + TRACES.indexOf(key));
  const trace = MAKERS[key](submissions, scale);
  return { ...trace, jobs: submissions.jobs() };
}
