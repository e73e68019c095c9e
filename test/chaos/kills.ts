import { setTimeout as sleep } from 'node:timers/promises';
import { killProcess } from '../../src/render/chromium/process/processes.ts';
import type { TestKafka } from '../support/kafka.ts';
import { assertGone, descendants } from '../support/processes.ts';
import type { TestService } from '../support/service.ts';
import type { Findings } from './findings.ts';
import { pick, seeded } from './random.ts';

export const ROLES = ['dispatcher', 'worker-1', 'worker-2', 'api-1', 'api-2'] as const;
const VICTIMS = [...ROLES, 'chromium-1', 'chromium-2', 'kafka'] as const;
type Victim = (typeof VICTIMS)[number];

export const KILL_EVERY_MS = 2000;
const DOWN_MS = { least: 200, most: 2500 };
const KAFKA_DOWN_MS = { least: 1000, most: 5000 };
/**
 * The least number of kills between two of one kind. A document that ends its browser twice fails for good, so no job
 * may meet two kills of a browser; and a starting process waits for Kafka, so nothing would start if Kafka were away
 * all the time.
 */
const KILLS_BETWEEN = new Map([
  ['chromium', 4],
  ['kafka', 7],
]);

interface Kill {
  readonly victim: Victim;
  /** Until it is started again; a browser is replaced by its worker at once. */
  readonly downMs: number;
}

/** Chooses the next victim among the running processes; undefined when none runs. The seed decides each choice. */
function chooser(seed: number): (isUp: (victim: Victim) => boolean) => Kill | undefined {
  const random = seeded(seed);
  const last = new Map<string, number>();
  let kills = 0;
  return (isUp) => {
    const isTooSoon = (kind: string) =>
      kills - (last.get(kind) ?? Number.NEGATIVE_INFINITY) <= (KILLS_BETWEEN.get(kind) ?? 0);
    const candidates = VICTIMS.filter((victim) => isUp(victim) && !isTooSoon(kindOf(victim)));
    const victim = pick(random, candidates);
    const { least, most } = victim === 'kafka' ? KAFKA_DOWN_MS : DOWN_MS;
    const downMs = Math.round(least + random() * (most - least));
    if (victim === undefined) return undefined;
    last.set(kindOf(victim), kills);
    kills += 1;
    return { victim, downMs };
  };
}

/** What may be killed. */
export interface ChaosTarget {
  readonly service: TestService;
  readonly kafka: TestKafka;
}

/** Kills something every two seconds until the signal, and starts it again. Resolves when everything is up again. */
export async function keepKilling(
  target: ChaosTarget,
  seed: number,
  signal: AbortSignal,
  findings: Findings,
  log: (line: string) => void,
): Promise<void> {
  const began = performance.now();
  const down = new Map<string, Promise<void>>();
  const isUp = (victim: Victim) => !down.has(victim) && !down.has(workerOf(victim));
  const choose = chooser(seed);
  for (let count = 1; ; count += 1) {
    const untilNextMs = began + count * KILL_EVERY_MS - performance.now();
    await sleep(untilNextMs, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) break;
    const kill = choose(isUp);
    if (kill === undefined) continue;
    const { victim, downMs } = kill;
    log(`kill ${victim}${victim === workerOf(victim) ? ` for ${downMs} ms` : ''}`);
    findings.count(`kill of ${kindOf(victim)}`);
    const struck = strike(target, victim, downMs, findings)
      .catch((error: Error) => {
        const [what, ...story] = error.message.split('\n');
        findings.add(victim, what!);
        for (const line of story) log(line);
      })
      .finally(() => down.delete(victim));
    down.set(victim, struck);
  }
  await Promise.all(down.values());
}

function kindOf(victim: Victim): string {
  return victim.replace(/-\d/, '');
}

/** The worker that a browser belongs to; any other victim as it is. */
function workerOf(victim: Victim): string {
  return victim.replace('chromium', 'worker');
}

async function strike(
  { service, kafka }: ChaosTarget,
  victim: Victim,
  downMs: number,
  findings: Findings,
): Promise<void> {
  if (victim !== workerOf(victim)) return killBrowser(service, workerOf(victim));
  if (victim === 'kafka') {
    await kafka.halt();
    await sleep(downMs);
    return kafka.restart();
  }
  const how = await service.roles.get(victim)!.end('SIGKILL');
  if (how !== 'SIGKILL') findings.add(victim, `had ended by itself with ${how}`);
  await sleep(downMs);
  await service.restart(victim);
}

/** Kills a worker's browser; what the browser has started ends with it. */
async function killBrowser(service: TestService, worker: string): Promise<void> {
  const browser = descendants(service.roles.get(worker)!.pid).findLast(
    ({ command }) => /chrom/i.test(command) && !command.includes('--type='),
  );
  if (browser === undefined) return;
  const family = descendants(browser.pid);
  killProcess(browser.pid);
  await assertGone([browser, ...family]);
}
