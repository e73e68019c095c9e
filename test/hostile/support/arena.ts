import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PlanName } from '../../../src/tenants/plans/plan.ts';
import { eventually } from '../../support/eventually.ts';
import { descendants, type LogLine } from '../../support/processes.ts';
import { openStandaloneService, type Tenant, type TestService } from '../../support/service.ts';
import { treeMemory } from '../../support/tree-memory.ts';
import type { Attack } from './attack.ts';
import { type Experience, type NeighbourSettings, neighbourDuring } from './neighbour.ts';
import { BEGAN } from './scripts.ts';
import { startVillains, type Villain } from './villain.ts';

/** The time in which every render of an attack must have ended, in milliseconds. */
const END_MS = 120_000;
const MIB = 1024 ** 2;
/** The longest deadline of a free account. Milliseconds. */
const MOST_OF_FREE_MS = 30_000;
/** Bytes that may stay in memory: warm pages of each attacker, and garbage that has not been collected. */
const MEMORY_LEFT = { atAll: 250 * MIB, ofEach: 50 * MIB };
/** Processes that may stay: those of warm pages of each attacker, of pages made ahead, and one that Chromium keeps. */
const PROCESSES_LEFT = { atAll: 4, ofEach: 2 };
/**
 * How often an attack is sent that a busy machine has prevented (its script has not begun, or its deadline was over first), and
 * by which factor its time limit grows each time.
 */
const TRIES = 3;
const LONGER = 3;
/** How any attack may end at its last try: the deadline bounds every document. */
const LAST_RESORT = 'RENDER_TIMEOUT';
/** What is shown of the service's log with a failure: these levels, and what it says of attempts. */
const WARNINGS: ReadonlySet<unknown> = new Set(['warn', 'error', 'fatal']);
const FAILED = /attempt failed|render dropped/;
/** The most lines of the log that are shown with a failure. */
const MOST_LINES = 40;

export interface ArenaSettings extends NeighbourSettings {
  /** How many accounts attack; default 1. */
  readonly accounts?: number;
}

/** A running standalone with a neighbour in it, to be attacked. */
export interface Arena {
  readonly service: TestService;
  readonly neighbour: Tenant;
  newVillain(): Villain;
  /**
   * Calls `attack` while the neighbour renders. Fails when a render of the neighbour fails, when the service is not healthy, or
   * when a process, a file or memory is left afterwards.
   *
   * @param attack gets the neighbour's measurements so far.
   */
  withstand(
    attack: (attacker: Tenant, experience: Experience) => Promise<unknown>,
    settings?: ArenaSettings,
  ): Promise<Experience>;
  /**
   * The same with concurrent attacks, each by one or two accounts of its own, whose results are checked. Their scripts must
   * have begun, and not have ended with an error: otherwise the service would have withstood nothing.
   */
  survive(attacks: readonly Attack[], settings?: NeighbourSettings): Promise<Experience>;
  close(): Promise<void>;
}

export async function openArena(environment: Record<string, string> = {}): Promise<Arena> {
  const villains = await startVillains();
  const service = await openStandaloneService({ PLATEN_WORKER_SLOTS: '16', ...environment });
  const neighbour = await service.newTenant('business');
  const { pid, logs } = service.roles.get('standalone')!;
  // The first renders warm the service up.
  await neighbourDuring(neighbour.client, async () => undefined);

  const withstand: Arena['withstand'] = async (attack, settings) => {
    const attacker = await service.newTenant('business');
    const before = await leftBehind(pid);
    const logged = logs.length;
    const experience = await neighbourDuring(
      neighbour.client,
      (met) => attack(attacker, met),
      settings,
    ).catch((error: Error) => {
      throw new Error(`${error.message}\n${warningsIn(logs.slice(logged))}`, { cause: error });
    });
    await assertNothingLeft(pid, before, settings?.accounts ?? 1);
    return experience;
  };

  async function send(attack: Attack, plan: PlanName): Promise<void> {
    const attacker = await service.newTenant(plan);
    for (let tries = 1; ; tries++) {
      const villain = villains.newVillain();
      const { options, ...fields } = attack.submission(villain);
      const timeoutMs = Math.min(MOST_OF_FREE_MS, options.timeoutMs * LONGER ** (tries - 1));
      const body = { ...fields, options: { ...options, timeoutMs } };
      const end = await endOf(attacker, await attacker.client.submit(body));
      const expected = attack.ends.includes(end);
      assert.ok(expected || end === LAST_RESORT, `${attack.name} ended with ${end}, of a ${plan} account`);
      if (tries < TRIES && !(expected && hasBegun(villain))) continue;
      assertMade(attack, villain);
      return;
    }
  }

  return {
    service,
    neighbour,
    newVillain: villains.newVillain,
    withstand,
    survive(attacks, settings) {
      const plans = ({ byFree }: Attack) => ['business', ...(byFree ? ['free'] : [])];
      const sent = attacks.flatMap((attack) => plans(attack).map((plan) => ({ attack, plan })));
      const work = () => Promise.all(sent.map(({ attack, plan }) => send(attack, plan)));
      return withstand(work, { ...settings, accounts: sent.length });
    },
    async close() {
      await service.stop();
      await villains.close();
    },
  };
}

/** What a service has logged about what went wrong, and about attempts that failed. */
function warningsIn(lines: readonly LogLine[]): string {
  return lines
    .filter(({ level, msg }) => WARNINGS.has(level) || FAILED.test(String(msg)))
    .slice(-MOST_LINES)
    .map((line) => JSON.stringify(line))
    .join('\n');
}

function hasBegun({ reported }: Pick<Villain, 'reported'>): boolean {
  return !reported.expected || reported.all.includes(BEGAN);
}

/** Fails when the document did nothing: its script did not begin, or ended with an error. */
function assertMade({ name, reports, mayThrow }: Attack, { reported }: Villain): void {
  const all = reported.all.join(', ');
  assert.ok(hasBegun({ reported }), `the script of ${name} did not begin`);
  for (const thrown of reported.all.filter((what) => what.startsWith('threw ')))
    assert.ok(mayThrow?.test(thrown), `${name} ${thrown}`);
  if (reports !== undefined) assert.match(all, reports, `${name} reported ${all}`);
}

/** The end of a render, also when its caller gets a 202 first: `completed`, or an error code. */
export async function rendered(attacker: Tenant, body: Record<string, unknown>): Promise<string> {
  const { status, json } = await attacker.client.render(body);
  if (status === 200) return 'completed';
  return status === 202 ? await endOf(attacker, json.jobId) : json.code;
}

/** Cancels the running and waiting jobs of an account. */
export async function cancelAll({ client }: Tenant, jobs: readonly string[]): Promise<void> {
  await Promise.all(jobs.map((jobId) => client.call('DELETE', `/v1/pdf/jobs/${jobId}`)));
}

/** How many of the jobs of an account are in one of these states. */
export async function countIn(
  { client }: Tenant,
  jobs: readonly string[],
  states: readonly string[],
): Promise<number> {
  const records = await Promise.all(jobs.map((jobId) => client.call('GET', `/v1/pdf/jobs/${jobId}`)));
  return records.filter(({ json }) => states.includes(json.status)).length;
}

async function endOf({ client }: Tenant, jobId: string): Promise<string> {
  const { status, error } = await client.end(jobId, END_MS);
  return status === 'completed' ? status : error.code;
}

interface LeftBehind {
  readonly processes: number;
  readonly memory: number;
  readonly files: readonly string[];
}

async function leftBehind(pid: number): Promise<LeftBehind> {
  return { processes: descendants(pid).length, memory: treeMemory([pid]), files: await filesOf(pid) };
}

/** The folders of its browsers, which contain all of their files. */
async function filesOf(pid: number): Promise<string[]> {
  const folders = await readdir(join(tmpdir(), 'platen-chromium'));
  return folders.filter((name) => name.startsWith(`${pid}-`));
}

async function assertNothingLeft(pid: number, before: LeftBehind, accounts: number): Promise<void> {
  let now = before;
  const wrong = () => {
    const { processes, memory, files } = now;
    if (processes > before.processes + PROCESSES_LEFT.atAll + accounts * PROCESSES_LEFT.ofEach)
      return `${processes} processes`;
    if (files.length > before.files.length) return files.join(', ');
    if (memory > before.memory + MEMORY_LEFT.atAll + accounts * MEMORY_LEFT.ofEach)
      return `${Math.round(memory / 1024 ** 2)} MiB`;
    return undefined;
  };
  await eventually('nothing is left of the attack', async () => {
    now = await leftBehind(pid);
    return wrong() === undefined;
  }).catch(() => assert.fail(`of the attack is left: ${wrong()}, of ${JSON.stringify(before)}`));
}
