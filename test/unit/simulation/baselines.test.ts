import assert from 'node:assert/strict';
import { defaultBehaviour, HpaStabiliser, perPodRecommendation } from '../../simulation/scalers/hpa.ts';
import { CPU_DEFAULTS, type CpuPod, cpuRecommendation } from '../../simulation/scalers/hpa-cpu.ts';
import { boundedLag, Keda, type ScaledObject } from '../../simulation/scalers/keda.ts';
import { KpaDecider, kpaDefaults, WindowAverage } from '../../simulation/scalers/knative.ts';
import { squareRootSlots } from '../../simulation/scalers/square-root.ts';

const SECOND = 1000;

/** Every so many seconds the same recommendation, until the size stays. */
function sizes(hpa: HpaStabiliser, from: number, recommended: number, everySeconds: number): number[] {
  const seen = [from];
  for (let tick = 1; tick < 100; tick += 1) {
    const last = seen.at(-1) ?? from;
    const next = hpa.next(last, recommended, tick * everySeconds * SECOND);
    if (next === last) break;
    seen.push(next);
  }
  return seen;
}

describe('HPA, as its documentation works it out', () => {
  it('doubles at 200m for a target of 100m, and halves at 50m', () => {
    assert.equal(perPodRecommendation(4 * 200, 100, 4), 8);
    assert.equal(perPodRecommendation(4 * 50, 100, 4), 2);
  });

  it('leaves the size alone within a tenth of the target', () => {
    assert.equal(perPodRecommendation(10 * 109, 100, 10), 10);
    assert.equal(perPodRecommendation(10 * 91, 100, 10), 10);
    assert.equal(perPodRecommendation(10 * 112, 100, 10), 12);
  });

  it('goes up by 4 pods or to the double in 15 seconds, whichever is more', () => {
    assert.deepEqual(sizes(new HpaStabiliser(defaultBehaviour(100)), 1, 60, 15), [1, 5, 10, 20, 40, 60]);
  });

  it('goes down from 80 to 10 by a tenth a minute, and by 4 pods below 40', () => {
    const behaviour = {
      ...defaultBehaviour(100),
      scaleDown: {
        stabilizationWindowSeconds: 0,
        policies: [
          { type: 'Pods', value: 4, periodSeconds: 60 },
          { type: 'Percent', value: 10, periodSeconds: 60 },
        ],
      },
    } as const;
    const down = sizes(new HpaStabiliser(behaviour), 80, 10, 60);
    assert.deepEqual(down.slice(0, 3), [80, 72, 64]);
    const below = down.filter((size) => size < 40 && size > 13);
    assert.ok(below.slice(1).every((size, index) => size === below[index]! - 4));
    assert.equal(down.at(-1), 10);
  });

  it('goes down to the highest recommendation of the last five minutes', () => {
    const hpa = new HpaStabiliser(defaultBehaviour(100));
    assert.equal(hpa.next(10, 10, 0), 10);
    assert.equal(hpa.next(10, 7, 60 * SECOND), 10);
    assert.equal(hpa.next(10, 3, 285 * SECOND), 10);
    assert.equal(hpa.next(10, 3, 300 * SECOND), 7);
    assert.equal(hpa.next(7, 3, 360 * SECOND), 3);
  });

  it('never goes below one, nor above its maximum', () => {
    const hpa = new HpaStabiliser({
      ...defaultBehaviour(3),
      scaleDown: { stabilizationWindowSeconds: 0, policies: [] },
    });
    assert.equal(hpa.next(2, 50, 0), 3);
    assert.equal(hpa.next(3, 0, SECOND), 3, 'no policy allows a change');
    assert.equal(new HpaStabiliser(defaultBehaviour(3)).next(1, 0, 600 * SECOND), 1);
  });
});

describe('HPA on CPU, as replica_calculator_test.go works it out', () => {
  const now = 3600 * SECOND;
  /** Pods by their usage as a share of their request; those in `unready` are not ready, undefined has no sample. */
  function recommended(
    usages: (number | undefined)[],
    target: number,
    unready: number[] = [],
  ): number | undefined {
    const pods = usages.map((usage, index): CpuPod => {
      const isReady = !unready.includes(index);
      return {
        startTime: isReady ? 0 : now - 10 * SECOND,
        ready: isReady,
        readyTransition: isReady ? 0 : now - 10 * SECOND,
        ...(usage !== undefined && { sample: { usage, at: now, windowMs: 15 * SECOND } }),
      };
    });
    return cpuRecommendation(pods, usages.length, { ...CPU_DEFAULTS, target }, now);
  }

  it('ScaleUp, ScaleDown', () => {
    assert.equal(recommended([0.3, 0.5, 0.7], 0.3), 5);
    assert.equal(recommended([0.1, 0.3, 0.5, 0.25, 0.25], 0.5), 3);
  });

  it('ScaleUpUnreadyLessScale: who is not ready counts as idle', () => {
    assert.equal(recommended([0.3, 0.5, 0.7], 0.3, [0]), 4);
  });

  it('ScaleUpUnreadyNoScale: that must not turn the direction', () => {
    assert.equal(recommended([0.4, 0.5, 0.7], 0.3, [1, 2]), 3);
  });

  it('ScaleUpHotCpuLessScale: a sample from before a pod was ready counts as idle, too', () => {
    const ready = (readyTransition: number, usage: number): CpuPod => ({
      startTime: readyTransition - 5 * SECOND,
      ready: true,
      readyTransition,
      sample: { usage, at: now, windowMs: 15 * SECOND },
    });
    const pods = [ready(now - 3 * SECOND, 0.3), ready(0, 0.5), ready(0, 0.7)];
    assert.equal(cpuRecommendation(pods, 3, { ...CPU_DEFAULTS, target: 0.3 }, now), 4);
  });

  it('MissingMetrics: without a sample a pod counts as full for going down, as idle for going up', () => {
    assert.equal(recommended([1, undefined], 1), 2, 'MissingMetricsNoChangeEq');
    assert.equal(recommended([0.1, 0.45, undefined], 0.5, [0]), 3, 'MissingMetricsUnreadyNoChange');
    assert.equal(recommended([0.1, 2, undefined], 0.5, [0]), 4, 'MissingMetricsUnreadyScaleUp');
  });

  it('has nothing to say without a sample of a ready pod', () => {
    assert.equal(recommended([undefined], 0.5), undefined);
    assert.equal(recommended([0.5], 0.5, [0]), undefined);
  });
});

describe('KEDA, as its documentation describes it', () => {
  const object = (changes: Partial<ScaledObject> = {}): ScaledObject => ({
    name: 'test',
    pollingIntervalMs: 30 * SECOND,
    cooldownPeriodMs: 300 * SECOND,
    threshold: 10,
    metric: () => 0,
    ...changes,
  });
  const keda = (changes: Partial<ScaledObject> = {}) =>
    new Keda(object(changes), { maxReplicas: 100, slotsPerWorker: 4 });

  it('has a replica for every ten of lag by default, in the steps of the HPA', () => {
    const its = keda();
    assert.equal(its.synced(4, 50, 0), 5);
    assert.equal(its.synced(5, 50, 15 * SECOND), 5);
  });

  it('never has more replicas than partitions, unless consumers may be idle', () => {
    assert.equal(boundedLag(1000, 10, 12), 120);
    assert.equal(boundedLag(100, 10, 12), 100);
    assert.equal(perPodRecommendation(boundedLag(1000, 10, 12), 10, 3), 12);
  });

  it('starts one replica for the first message, and leaves none to the HPA', () => {
    const its = keda();
    assert.equal(its.synced(0, 500, 0), 0);
    assert.equal(its.polled(0, 500, 0), 1);
    assert.equal(its.polled(7, 500, 0), 7);
  });

  it('goes to zero when there has been nothing for the cooldown', () => {
    const its = keda();
    its.polled(1, 1, 0);
    assert.equal(its.polled(1, 0, 300 * SECOND), 1);
    assert.equal(its.polled(1, 0, 301 * SECOND), 0);
  });

  it('stabilises for as long as its HPA is told to', () => {
    const its = keda({ stabilisationSeconds: 60, threshold: 4 });
    assert.equal(its.synced(10, 40, 0), 10);
    assert.equal(its.synced(10, 4, 45 * SECOND), 10);
    assert.equal(its.synced(10, 4, 75 * SECOND), 1);
  });
});

describe('Knative KPA, as autoscaler_test.go works it out', () => {
  const decider = (target: number, ready = 1) =>
    new KpaDecider(
      { ...kpaDefaults(1), target, maxScaleUpRate: 10, maxScaleDownRate: 10 },
      Math.min(ready, 1),
    );

  it('StableModeIncrease and StableModeDecrease', () => {
    const up = decider(10);
    assert.equal(up.desired(50, 10, 1, 0), 5);
    assert.equal(up.desired(100, 10, 1, 0), 10);
    const down = decider(10);
    assert.equal(down.desired(100, 100, 8, 0), 10);
    assert.equal(down.desired(50, 50, 8, 0), 5);
  });

  it('UnpanicAfterSlowIncrease', () => {
    const kpa = decider(1);
    assert.equal(kpa.desired(11, 25, 10, 0), 25);
    assert.ok(kpa.panics);
    assert.equal(kpa.desired(30, 41, 40, 30 * SECOND), 41);
    assert.equal(kpa.desired(50, 56, 55, 62 * SECOND), 50);
    assert.ok(!kpa.panics);
  });

  it('ExtendPanicWindow', () => {
    const kpa = decider(1);
    kpa.desired(11, 25, 10, 0);
    assert.equal(kpa.desired(30, 80, 40, 30 * SECOND), 80);
    kpa.desired(30, 50, 80, 62 * SECOND);
    assert.ok(kpa.panics, 'the minute counts from the last crossing');
  });

  it('never goes down in panic, and by half at most after it', () => {
    const kpa = new KpaDecider({ ...kpaDefaults(4), target: 1 });
    assert.equal(kpa.desired(5, 20, 8, 0), 20);
    assert.equal(kpa.desired(5, 5, 20, 10 * SECOND), 20);
    assert.equal(kpa.desired(2, 2, 20, 61 * SECOND), 10);
  });

  it('starts with the pods that are there', () => {
    const kpa = new KpaDecider(kpaDefaults(4), 6, 0);
    assert.equal(kpa.desired(0, 0, 6, 2 * SECOND), 6);
  });

  it('goes to zero after half a minute of grace', () => {
    const kpa = new KpaDecider(kpaDefaults(4));
    assert.equal(kpa.afterGrace(0, 0), 1);
    assert.equal(kpa.afterGrace(0, 29 * SECOND), 1);
    assert.equal(kpa.afterGrace(0, 30 * SECOND), 0);
    assert.equal(kpa.afterGrace(2, 31 * SECOND), 2);
  });

  it('has 15 pods for 100 requests of containers that take 10, at 70 %', () => {
    const kpa = new KpaDecider(kpaDefaults(10));
    assert.equal(kpa.desired(100, 100, 15, 0), 15);
  });

  it('averages over its windows', () => {
    const window = new WindowAverage(6000);
    window.note(30, 0);
    window.note(0, 2000);
    assert.equal(window.note(0, 4000), 10);
    assert.equal(window.note(0, 6000), 0);
  });
});

describe('the square-root rule of Halfin and Whitt', () => {
  it('adds β times the root of the load', () => {
    assert.deepEqual(
      [0.5, 1, 1.5, 2].map((beta) => squareRootSlots(100, beta)),
      [105, 110, 115, 120],
    );
  });

  it('lets as many wait as the theory says, in a large system', () => {
    const load = 10_000;
    const waiting = [0.5, 1, 1.5, 2].map((beta) => erlangC(squareRootSlots(load, beta), load));
    for (const [index, expected] of [0.5, 0.22, 0.085, 0.027].entries()) {
      assert.ok(Math.abs(waiting[index]! - expected) < 0.01, `${waiting[index]} for ${expected}`);
    }
  });
});

/** Erlang's formula for the probability of waiting, by the recursion of Erlang B. */
function erlangC(servers: number, load: number): number {
  let blocked = 1;
  for (let count = 1; count <= servers; count += 1) blocked = (load * blocked) / (count + load * blocked);
  return blocked / (1 - (load / servers) * (1 - blocked));
}
