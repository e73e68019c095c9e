import assert from 'node:assert/strict';
import { JOB_CLASSES } from '../../../src/infra/bus/bus.ts';
import type { Permit, Priority } from '../../../src/infra/scheduling/fair-queue.ts';
import { spareSlots, WorkerSlots } from '../../../src/infra/scheduling/worker-slots.ts';
import { pick, seeded } from '../../chaos/random.ts';

const SEEDS = 60;
const STEPS = 400;
const ACCOUNTS = ['flood', 'flood', 'flood', 'flood', 'other', 'third', 'fourth', 'fifth'];
/** A render that takes this long is slow, in milliseconds. */
const SLOW_RENDER_MS = 5000;
/** A worker with this many slots keeps the last one for an account that holds none. */
const KEEPS_LAST = 8;

interface Job {
  readonly account: string;
  readonly priority: Priority;
  readonly requestedAt: number;
}

/** A worker's slots, and jobs that request them, are blocked, and end in an order that `random` decides. */
class Model {
  readonly total: number;
  readonly computing: number;
  readonly slots: WorkerSlots;
  readonly waiting = new Set<Job>();
  readonly running = new Map<Job, Permit>();
  served = 0;
  blocked = 0;
  now = 1_000_000;
  readonly #random: () => number;

  /** @param computing the least number of renders that may compute at a time, if there are as many slots. */
  constructor(random: () => number, computing = 1) {
    this.#random = random;
    this.total = 1 + this.#upTo(16);
    this.computing = Math.min(this.total, computing + this.#upTo(this.total - 1));
    this.slots = new WorkerSlots(this.total, { computing: this.computing, now: () => this.now });
  }

  /** Makes one event happen, and checks the bounds. */
  async step(): Promise<void> {
    const next = this.#random();
    this.now += this.#upTo(300);
    if (next < 0.45) this.request(this.#pick(ACCOUNTS));
    else if (next < 0.8) this.endOne();
    else if (next < 0.85) this.now += SLOW_RENDER_MS;
    else this.#block(this.#upTo(this.running.size));
    await settled();
    this.check();
  }

  request(account: string, priority: Priority = this.#pick(JOB_CLASSES)): Job {
    const job: Job = { account, priority, requestedAt: this.now };
    this.waiting.add(job);
    void this.slots.acquire({ account, priority }).then((slot) => this.#given(job, slot));
    return job;
  }

  endOne(): void {
    if (this.running.size === 0) return;
    const [job, slot] = this.#pick([...this.running]);
    this.running.delete(job);
    if (this.blocked > this.running.size) this.#block(this.running.size);
    slot.release();
  }

  check(): void {
    assert.equal(this.slots.taken, this.running.size);
    const room = this.total + spareSlots(this.total);
    assert.ok(this.running.size <= room, 'no more slots than there are');
    const most = Math.max(0, ...this.#heldBy().values());
    const mayHold = this.total >= KEEPS_LAST ? this.total - 1 : this.total;
    assert.ok(most <= mayHold, `one account holds ${most} of ${this.total}`);
    const accounts = new Set([...this.waiting].map(({ account }) => account));
    if (this.running.size === 0) assert.equal(accounts.size, 0, 'all slots are free, and somebody waits');
  }

  #given(job: Job, slot: Permit): void {
    this.waiting.delete(job);
    this.running.set(job, slot);
    this.served += 1;
  }

  #heldBy(): Map<string, number> {
    const held = new Map<string, number>();
    for (const { account } of this.running.keys()) held.set(account, (held.get(account) ?? 0) + 1);
    return held;
  }

  #block(renders: number): void {
    this.blocked = renders;
    this.slots.setBlocked(renders);
  }

  #upTo(most: number): number {
    return Math.floor(this.#random() * (most + 1));
  }

  #pick<T>(from: readonly T[]): T {
    return pick(this.#random, from)!;
  }
}

const settled = () => new Promise(setImmediate);

describe('Slots of a worker, for any sequence of requests,', () => {
  for (let seed = 1; seed <= SEEDS; seed += 1)
    it(`hold their bounds and serve every request (seed ${seed})`, async () => {
      const model = new Model(seeded(seed));
      for (let step = 0; step < STEPS; step += 1) await model.step();
      while (model.waiting.size + model.running.size > 0) {
        model.now += 50;
        model.endOne();
        await settled();
        model.check();
      }
      assert.ok(model.served > STEPS / 4);
    });

  for (let seed = 1; seed <= SEEDS; seed += 1)
    it(`serve a newcomer at once while an unknown account has renders (seed ${seed})`, async () => {
      const random = seeded(seed);
      const model = new Model(random, 2);
      for (let i = 0; i < 2 * model.total; i += 1) model.request('flood', 'interactive');
      for (let renders = 0; renders < 20; renders += 1) {
        // All of its renders may be blocked, or none.
        model.slots.setBlocked(Math.floor(random() * (model.running.size + 1)));
        await settled();
        const newcomer = model.request('newcomer');
        await settled();
        if (model.total < KEEPS_LAST && model.running.size === model.total) return;
        assert.ok(model.running.has(newcomer), `it waits beside ${model.running.size} of ${model.total}`);
        model.running.get(newcomer)?.release();
        model.running.delete(newcomer);
        model.now += 100;
      }
    });
});
