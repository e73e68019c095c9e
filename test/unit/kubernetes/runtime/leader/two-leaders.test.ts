import assert from 'node:assert/strict';
import { LeaderElection } from '../../../../../src/infra/kube/leader/leader-election.ts';
import { seeded } from '../../../../chaos/random.ts';
import { LeaseServer } from '../../../../support/kubernetes/lease-server.ts';
import { ManualTimers } from '../../../../support/manual-timers.ts';

const STEP_MS = 250;
const STEPS = 2400;
/** Fast and slow by a tenth: far more than clocks differ. */
const CLOCK_RATES = [1, 1.1, 0.9];

/** A position in which one process after the other runs for election: it may be cut off, suspended and resumed, or die. */
class Candidate {
  readonly name: string;
  readonly rate: number;
  readonly server: LeaseServer;
  readonly random: () => number;
  terms = 0;
  stalled = false;
  #process = 0;
  #timers = new ManualTimers();
  #election: LeaderElection;

  constructor(name: string, rate: number, server: LeaseServer, random: () => number) {
    this.name = name;
    this.rate = rate;
    this.server = server;
    this.random = random;
    this.#election = this.#begin();
  }

  get isLeader(): boolean {
    return this.#election.isLeader;
  }

  /** Dies without notice; another process replaces it. */
  restart(): void {
    this.#timers = new ManualTimers();
    this.#election = this.#begin();
  }

  /** Its clock runs even while it is stalled; its callbacks wait. */
  async step(): Promise<void> {
    const ms = STEP_MS * this.rate;
    if (this.stalled) this.#timers.freeze(ms);
    else await this.#timers.pass(ms);
  }

  #begin(): LeaderElection {
    this.#process += 1;
    const timers = this.#timers;
    const election = new LeaderElection({
      api: this.server.connect(this.name, timers),
      namespace: 'ns',
      name: 'lease',
      identity: `${this.name}-${this.#process}`,
      timers,
      clock: { now: () => new Date(timers.nowMs()) },
      random: this.random,
      logger: { info: () => {}, warn: () => {} },
      onElected: () => {
        this.terms += 1;
      },
      // The process ends, and another one begins.
      onLost: () => this.restart(),
    });
    election.start();
    return election;
  }
}

describe('leaders through many forced losses', () => {
  for (let seed = 1; seed <= 8; seed += 1) {
    it(`are never two at a time, whatever is cut off, stalls or dies (seed ${seed})`, async () => {
      const random = seeded(seed);
      const server = new LeaseServer();
      const candidates = CLOCK_RATES.map((rate, n) => new Candidate(`candidate${n}`, rate, server, random));
      let ledSteps = 0;
      for (let step = 0; step < STEPS; step += 1) {
        if (step % 40 === 0) disturb(candidates, server, random);
        for (const candidate of candidates) {
          await candidate.step();
          const leaders = candidates.filter(({ isLeader }) => isLeader);
          assert.ok(leaders.length <= 1, `step ${step}: ${leaders.map(({ name }) => name)} lead together`);
          ledSteps += leaders.length;
        }
      }
      const terms = candidates.reduce((sum, candidate) => sum + candidate.terms, 0);
      assert.ok(terms >= 6, `${terms} terms are too few to show anything`);
      assert.ok(ledSteps > STEPS, `there was a leader in ${ledSteps} of ${3 * STEPS} looks`);
    });
  }
});

/** Every ten seconds each candidate may get into trouble, and out of it; the leader more often than the others. */
function disturb(candidates: readonly Candidate[], server: LeaseServer, random: () => number): void {
  for (const candidate of candidates) {
    const trouble = candidate.isLeader ? 0.5 : 0.2;
    const dice = random();
    server.cutOff.delete(candidate.name);
    server.unanswered.delete(candidate.name);
    candidate.stalled = false;
    if (dice < trouble / 4) server.cutOff.add(candidate.name);
    else if (dice < trouble / 2) server.unanswered.add(candidate.name);
    else if (dice < (3 * trouble) / 4) candidate.stalled = true;
    else if (dice < trouble) candidate.restart();
  }
}
