import type { PodPhase, WorkerState } from '../../src/kubernetes/scaling/types.ts';
import { Accounts, Fifo } from './accounts.ts';
import type { EventQueue } from './event-queue.ts';
import type { Trace } from './traces.ts';

/** A node that does not answer makes its pods not ready after so long, and they are evicted after five minutes more. */
const NODE_MONITOR_GRACE_MS = 50_000;
const EVICTION_MS = 300_000;
/** `PLATEN_LEASE_MS`: when the jobs of a lost worker come back. */
const LEASE_MS = 15_000;
/** A worker that has not been heard of for so long is in no reading. */
const UNSEEN_MS = 10_000;
/** A worker looks that often whether it is to pause; a written mark is in the cache after so long. */
const PAUSE_SEEN_MS = 1000;
const MARK_SEEN_MS = 200;
/** From the last render's end to the end of the process. */
const EXIT_MS = 1000;

export interface SimulatedPod {
  readonly name: string;
  readonly createdAt: number;
  readonly tieBreak: number;
  phase: PodPhase;
  readyAt: number;
  marked: boolean;
  /** Undefined before the worker is up. */
  state: WorkerState | undefined;
  /** When its node was lost. */
  lostAt: number | undefined;
  readonly running: Set<number>;
  /** Milliseconds of slots in use until `busyUntil`. */
  busyMs: number;
  busyUntil: number;
  openIndex: number;
}

export interface ClusterOptions {
  readonly slotsPerWorker: number;
  readonly replicas: number;
  readonly random: () => number;
}

/** The Deployment of a pool, its pods and what they render; the rules of Kubernetes and Platen, whoever scales. */
export class Cluster {
  readonly accounts: Accounts;
  readonly slotsPerWorker: number;
  replicas = 0;
  /** Dispatched, and claimed by nobody yet. */
  readonly ready = new Fifo();
  readonly dispatchedAt: Float64Array;
  readonly startedAt: Float64Array;
  podMs = 0;
  scaleActions = 0;
  arrived = 0;
  readonly #events: EventQueue;
  readonly #trace: Trace;
  readonly #random: () => number;
  #pods: SimulatedPod[] = [];
  readonly #open: SimulatedPod[] = [];
  #made = 0;

  constructor(trace: Trace, events: EventQueue, options: ClusterOptions) {
    const jobs = trace.jobs.arrival.length;
    this.slotsPerWorker = options.slotsPerWorker;
    this.#trace = trace;
    this.#events = events;
    this.#random = options.random;
    this.dispatchedAt = new Float64Array(jobs);
    this.startedAt = new Float64Array(jobs).fill(Number.NaN);
    this.accounts = new Accounts(trace, (job) => {
      this.dispatchedAt[job] = events.now;
      this.#enqueue(job);
    });
    this.replicas = options.replicas;
    for (let number = 0; number < options.replicas; number += 1) this.#becomeReady(this.#createPod());
    const { nodeLost } = trace;
    if (nodeLost !== undefined) events.at(nodeLost.at, () => this.#loseNode(nodeLost.share));
    this.#arriveNext();
  }

  get pods(): readonly SimulatedPod[] {
    return this.#pods;
  }

  get alivePods(): SimulatedPod[] {
    return this.#pods.filter(({ phase }) => phase !== 'terminating');
  }

  get readyPods(): number {
    return this.#pods.filter(({ phase }) => phase === 'ready').length;
  }

  /** The metric `platen_pool_demand_slots`: admissible demand less what is in flight on workers that are not seen. */
  get demand(): number {
    const unseen = this.#pods.filter((pod) => pod.running.size > 0 && !this.isSeen(pod));
    return this.accounts.demand - unseen.reduce((sum, { running }) => sum + running.size, 0);
  }

  isSeen({ state, lostAt }: SimulatedPod): boolean {
    return state !== undefined && (lostAt === undefined || this.#events.now - lostAt < UNSEEN_MS);
  }

  scaleTo(replicas: number): void {
    if (replicas === this.replicas) return;
    this.scaleActions += 1;
    this.replicas = replicas;
    this.#reconcile();
  }

  requestPause(pod: SimulatedPod, pause: boolean): void {
    this.#events.after(PAUSE_SEEN_MS, () => {
      if (pod.lostAt !== undefined || (pod.state !== 'claiming' && pod.state !== 'paused')) return;
      pod.state = pause ? 'paused' : 'claiming';
      this.#setOpen(pod);
      this.#assign();
    });
  }

  mark(pod: SimulatedPod, marked: boolean): void {
    this.#events.after(MARK_SEEN_MS, () => {
      pod.marked = marked;
    });
  }

  /** Counts what is still up at the end. */
  finish(): void {
    for (const pod of this.#pods) this.podMs += this.#events.now - pod.createdAt;
    this.#pods = [];
  }

  /** Slot-milliseconds in use by a pod so far. */
  busyMs(pod: SimulatedPod): number {
    return pod.busyMs + pod.running.size * (this.#events.now - pod.busyUntil);
  }

  #arriveNext(): void {
    const { arrival } = this.#trace.jobs;
    if (this.arrived === arrival.length) return;
    this.#events.at(arrival[this.arrived]!, () => {
      const job = this.arrived;
      this.arrived += 1;
      this.accounts.accept(job);
      this.#arriveNext();
    });
  }

  #enqueue(job: number): void {
    this.ready.push(job);
    this.#assign();
  }

  /** Any worker that has room takes the next job, each as likely as the others. */
  #assign(): void {
    while (this.#open.length > 0) {
      const job = this.ready.shift();
      if (job === undefined) return;
      this.#start(job, this.#open[Math.floor(this.#random() * this.#open.length)]!);
    }
  }

  #start(job: number, pod: SimulatedPod): void {
    this.startedAt[job] = this.#events.now;
    this.#noteBusy(pod);
    pod.running.add(job);
    this.#setOpen(pod);
    this.#events.after(this.#trace.jobs.service[job]!, () => {
      if (!pod.running.has(job) || pod.lostAt !== undefined) return;
      this.#noteBusy(pod);
      pod.running.delete(job);
      this.#setOpen(pod);
      this.accounts.end(job);
      this.#assign();
      if (pod.phase === 'terminating') this.#exitWhenEmpty(pod);
    });
  }

  #noteBusy(pod: SimulatedPod): void {
    pod.busyMs = this.busyMs(pod);
    pod.busyUntil = this.#events.now;
  }

  #setOpen(pod: SimulatedPod): void {
    const open =
      pod.state === 'claiming' && pod.lostAt === undefined && pod.running.size < this.slotsPerWorker;
    if (open === pod.openIndex >= 0) return;
    if (open) {
      pod.openIndex = this.#open.length;
      this.#open.push(pod);
      return;
    }
    const last = this.#open.pop()!;
    if (last !== pod) {
      this.#open[pod.openIndex] = last;
      last.openIndex = pod.openIndex;
    }
    pod.openIndex = -1;
  }

  /** What the ReplicaSet's controller does. */
  #reconcile(): void {
    const alive = this.alivePods;
    for (let number = alive.length; number < this.replicas; number += 1) this.#startPod(this.#createPod());
    if (alive.length <= this.replicas) return;
    alive.sort((a, b) => this.#deletionOrder(a, b));
    for (const pod of alive.slice(0, alive.length - this.replicas)) this.#terminate(pod);
  }

  /** `ActivePodsWithRanks`: not ready first, then by deletion cost, then those that became ready last, in powers of two. */
  #deletionOrder(a: SimulatedPod, b: SimulatedPod): number {
    const rank = ({ phase }: SimulatedPod) => (phase === 'ready' ? 1 : 0);
    const cost = ({ marked }: SimulatedPod) => (marked ? 0 : 1);
    const age = ({ readyAt }: SimulatedPod) => Math.floor(Math.log2(this.#events.now - readyAt + 1));
    return (
      rank(a) - rank(b) ||
      (rank(a) === 1 && (cost(a) - cost(b) || age(a) - age(b))) ||
      a.tieBreak - b.tieBreak
    );
  }

  #createPod(): SimulatedPod {
    this.#made += 1;
    const pod: SimulatedPod = {
      name: `pod-${this.#made}`,
      createdAt: this.#events.now,
      tieBreak: this.#random(),
      phase: 'pending',
      readyAt: Number.NaN,
      marked: false,
      state: undefined,
      lostAt: undefined,
      running: new Set(),
      busyMs: 0,
      busyUntil: this.#events.now,
      openIndex: -1,
    };
    this.#pods.push(pod);
    return pod;
  }

  #startPod(pod: SimulatedPod): void {
    const [least, most] = this.#trace.startDelay;
    this.#events.after(least + this.#random() * (most - least), () => {
      if (pod.phase === 'pending' && pod.lostAt === undefined) this.#becomeReady(pod);
    });
  }

  #becomeReady(pod: SimulatedPod): void {
    pod.phase = 'ready';
    pod.readyAt = this.#events.now;
    pod.state = 'claiming';
    this.#setOpen(pod);
    this.#assign();
  }

  #terminate(pod: SimulatedPod): void {
    pod.phase = 'terminating';
    if (pod.state !== undefined) pod.state = 'ending';
    this.#setOpen(pod);
    this.#exitWhenEmpty(pod);
  }

  #exitWhenEmpty(pod: SimulatedPod): void {
    if (pod.running.size > 0 && pod.lostAt === undefined) return;
    this.#events.after(pod.lostAt === undefined ? EXIT_MS : 0, () => {
      this.podMs += this.#events.now - pod.createdAt;
      this.#pods.splice(this.#pods.indexOf(pod), 1);
    });
  }

  #loseNode(share: number): void {
    const lost = this.alivePods.filter((_, index) => index % Math.round(1 / share) === 0);
    for (const pod of lost) {
      pod.lostAt = this.#events.now;
      this.#setOpen(pod);
    }
    this.#events.after(LEASE_MS, () => {
      for (const pod of lost) {
        const jobs = [...pod.running];
        pod.running.clear();
        for (const job of jobs) this.#enqueue(job);
      }
    });
    this.#events.after(NODE_MONITOR_GRACE_MS, () => {
      for (const pod of lost) if (pod.phase !== 'terminating') pod.phase = 'unreachable';
    });
    this.#events.after(NODE_MONITOR_GRACE_MS + EVICTION_MS, () => {
      for (const pod of lost) if (pod.phase !== 'terminating') this.#terminate(pod);
      this.#reconcile();
    });
  }
}
