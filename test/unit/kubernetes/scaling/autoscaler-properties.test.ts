import assert from 'node:assert/strict';
import { decide, startState } from '../../../../src/kubernetes/scaling/autoscaler.ts';
import type {
  Decision,
  FleetState,
  PodState,
  PoolSample,
  PoolScaling,
  WorkerSample,
} from '../../../../src/kubernetes/scaling/types.ts';
import { pick, seeded } from '../../../chaos/random.ts';
import { numbers, settings } from './pools.ts';

const SEEDS = Number(process.env.PROPERTY_SEEDS ?? 300);
const STEPS = 150;

/** What the API server, the ReplicaSet and the workers make of decisions, with every delay that chance may choose. */
class RandomWorld {
  nowMs = 1_000_000;
  replicas: number;
  demand = 0;
  readonly scaling: PoolScaling;
  readonly wrongVictims: string[] = [];
  readonly #random: () => number;
  #pods: (PodState & { worker?: WorkerSample; asked: boolean })[] = [];
  #made = 0;
  #rolling = false;

  constructor(random: () => number) {
    this.#random = random;
    const minReplicas = this.#upTo(4);
    this.scaling = settings({
      minReplicas,
      maxReplicas: minReplicas + this.#upTo(20),
      slotsPerWorker: 1 + this.#upTo(5),
      targetUtilisation: 0.5 + random() / 2,
      headroomSlots: this.#upTo(5),
      maxPendingPods: 1 + this.#upTo(6),
      scaleDown: {
        stabilisationSeconds: this.#upTo(30),
        maxPercent: 1 + this.#upTo(100),
        periodSeconds: 1 + this.#upTo(60),
      },
      workerYoungSeconds: this.#upTo(20),
      ...(random() < 0.1 && { manualReplicas: this.#upTo(20) }),
    });
    this.replicas = this.#upTo(20);
  }

  #upTo(most: number): number {
    return Math.floor(this.#random() * (most + 1));
  }

  #chance(probability: number): boolean {
    return this.#random() < probability;
  }

  fleet(): FleetState {
    return { replicas: this.replicas, pods: this.#pods, rolling: this.#rolling };
  }

  sample(): PoolSample | undefined {
    if (this.#chance(0.05)) return undefined;
    const workers = this.#pods.flatMap(({ worker }) => (worker === undefined ? [] : [worker]));
    return { at: this.nowMs, demand: this.demand, inFlightOnLive: this.busyOnLive(), workers };
  }

  busyOnLive(): number {
    return this.#pods.reduce((sum, { worker }) => sum + (worker?.busy ?? 0), 0);
  }

  busyLivePods(): number {
    return this.#pods.filter(({ worker, phase }) => phase !== 'terminating' && (worker?.busy ?? 0) > 0)
      .length;
  }

  /** Carries out a decision, then lets time and chance pass. */
  step(decision: Decision): void {
    for (const its of this.#pods) {
      const id = its.worker?.id ?? '';
      if (decision.pause.includes(id)) its.asked = true;
      if (decision.resume.includes(id)) its.asked = false;
      if (this.#chance(0.7)) Object.assign(its, { marked: decision.remove.includes(id) });
    }
    this.replicas = decision.desired;
    this.#deletePods();
    this.nowMs += 1000 + this.#upTo(2000);
    if (this.#chance(0.1)) this.demand = this.#upTo(60);
    if (this.#chance(0.02)) this.#rolling = !this.#rolling;
    while (this.#pods.filter(({ phase }) => phase !== 'terminating').length < this.replicas) this.#create();
    for (const its of this.#pods) this.#live(its);
    this.#pods = this.#pods.filter(({ phase }) => phase !== 'terminating' || this.#chance(0.7));
  }

  /** In the order of `ActivePodsWithRanks`: first pods that are not ready, then by deletion cost. */
  #deletePods(): void {
    const alive = this.#pods.filter(({ phase }) => phase !== 'terminating');
    alive.sort((a, b) => rank(a) - rank(b));
    for (const its of alive.slice(0, Math.max(0, alive.length - this.replicas))) {
      if ((its.worker?.busy ?? 0) > 0) this.wrongVictims.push(its.name);
      Object.assign(its, { phase: 'terminating', worker: undefined });
    }
  }

  #create(): void {
    this.#made += 1;
    this.#pods.push({
      name: `pod${this.#made}`,
      phase: 'pending',
      createdAt: this.nowMs,
      marked: false,
      asked: false,
    });
  }

  #live(its: PodState & { worker?: WorkerSample; asked: boolean }): void {
    if (its.phase === 'terminating') return;
    const { slotsPerWorker } = this.scaling;
    if (its.worker !== undefined) {
      const loses = its.phase === 'ready' ? this.#chance(0.01) : this.#chance(0.7);
      Object.assign(its, { phase: loses ? 'pending' : 'ready' });
    } else if (its.phase === 'pending' && this.#chance(0.3)) {
      const worker = {
        id: `w-${its.name}`,
        pod: its.name,
        busy: 0,
        startedAt: this.nowMs,
        state: 'claiming' as const,
      };
      Object.assign(its, { phase: 'ready', worker });
      return;
    }
    if (its.worker === undefined) return;
    const state = its.asked ? 'paused' : 'claiming';
    const busy =
      state === 'paused' ? Math.max(0, its.worker.busy - this.#upTo(2)) : this.#upTo(slotsPerWorker);
    its.worker = { ...its.worker, state, busy };
  }
}

function rank({ phase, marked }: PodState): number {
  if (phase !== 'ready') return 0;
  return marked ? 1 : 2;
}

/** Runs decisions in a random world, and checks each. */
function inRandomWorlds(
  check: (decision: Decision, world: RandomWorld, sample: PoolSample | undefined) => void,
): void {
  for (const seed of numbers(SEEDS)) {
    const world = new RandomWorld(seeded(seed));
    let state = startState(world.nowMs);
    for (let step = 0; step < STEPS; step += 1) {
      const sample = world.sample();
      const decided = decide(world.scaling, state, sample, world.fleet(), world.nowMs);
      state = decided.state;
      try {
        check(decided.decision, world, sample);
      } catch (error) {
        throw new Error(`seed ${seed}, step ${step}`, { cause: error });
      }
      world.step(decided.decision);
    }
  }
}

describe('in any world, a pool', () => {
  it('never goes below its busy live workers', () => {
    let shrinks = 0;
    inRandomWorlds((decision, world) => {
      if (decision.desired >= world.replicas) return;
      shrinks += 1;
      assert.ok(decision.desired >= world.busyLivePods());
    });
    assert.ok(shrinks > SEEDS, `${shrinks} shrinks`);
  });

  it('loses no worker that renders, in any order of writes', () => {
    inRandomWorlds((_, world) => assert.deepEqual(world.wrongVictims, []));
  });

  it('is never raised above its maximum, nor shrunk below its minimum', () => {
    inRandomWorlds(({ desired }, { scaling, replicas }) => {
      if (scaling.manualReplicas !== undefined) return;
      assert.ok(desired <= Math.max(replicas, scaling.maxReplicas));
      assert.ok(desired >= Math.min(replicas, scaling.minReplicas));
    });
  });

  it('never has more pending pods than it may, unless it had before', () => {
    inRandomWorlds(({ desired, hold }, world) => {
      const settled = world.fleet().pods.filter(({ phase }) => phase === 'ready').length;
      if (hold !== undefined) return;
      assert.ok(desired <= Math.max(world.replicas, settled + world.scaling.maxPendingPods));
    });
  });

  it('neither shrinks nor chooses workers while it is held', () => {
    let holds = 0;
    inRandomWorlds(({ desired, hold, pause, remove }, world) => {
      if (hold === undefined) return;
      holds += 1;
      assert.ok(desired >= world.replicas);
      assert.deepEqual([pause, remove], [[], []]);
    });
    assert.ok(holds > SEEDS);
  });

  it('marks only workers that have stopped claiming and are empty', () => {
    inRandomWorlds(({ remove, pause }, _, sample) => {
      for (const id of remove) {
        const its = sample?.workers.find((worker) => worker.id === id);
        assert.deepEqual([its?.state, its?.busy], ['paused', 0]);
        assert.ok(pause.includes(id), 'a victim goes on being one');
      }
    });
  });

  it('asks no worker to pause and to resume at once, and leaves no paused worker without a request', () => {
    inRandomWorlds(({ pause, resume, hold }, _, sample) => {
      assert.deepEqual(
        pause.filter((id) => resume.includes(id)),
        [],
      );
      if (hold !== undefined) return;
      const paused = (sample?.workers ?? []).filter(({ state }) => state === 'paused');
      for (const { id } of paused) assert.ok(pause.includes(id) || resume.includes(id), id);
    });
  });

  it('keeps enough claiming workers for the wanted size', () => {
    inRandomWorlds(({ pause, want }, world, sample) => {
      if (want === undefined || sample === undefined || pause.length === 0) return;
      const claiming = Math.max(world.replicas, world.fleet().pods.length) - pause.length;
      assert.ok(claiming >= Math.min(want, world.scaling.manualReplicas ?? world.scaling.maxReplicas));
    });
  });

  it('decides the same for the same input', () => {
    const random = seeded(7);
    const world = new RandomWorld(random);
    for (let step = 0; step < STEPS; step += 1) {
      const sample = world.sample();
      const state = startState(world.nowMs);
      const first = decide(world.scaling, state, sample, world.fleet(), world.nowMs);
      assert.deepEqual(decide(world.scaling, state, sample, world.fleet(), world.nowMs), first);
      world.step(pick(random, [first.decision]) ?? first.decision);
    }
  });
});
