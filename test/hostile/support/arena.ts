import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { PlanName } from '../../../src/plans/plan.ts';
import { eventually } from '../../support/eventually.ts';
import { descendants } from '../../support/processes.ts';
import { openStandaloneService, type Tenant, type TestService } from '../../support/service.ts';
import { treeMemory } from '../../support/tree-memory.ts';
import { assertUnharmed, type Experience, isUnharmed, neighbourDuring } from './neighbour.ts';
import { BEGAN } from './scripts.ts';
import { startVillain, type Villain } from './villain.ts';

/** How long the neighbour is looked at by itself, in milliseconds. */
const ALONE_MS = 3000;
/** How often an attack is made before it counts as the reason why the neighbour was slow. */
const TRIES = 3;
/** In so much time every order of an attack has ended, in milliseconds. */
const END_MS = 60_000;
/** What an attack may leave in memory: a warm page or two, and what collectors take their time for. Bytes. */
const MEMORY_LEFT = 300 * 1024 ** 2;
/** Processes that may stay: warm pages of the attacker's, pages that are made ahead, and one that Chromium keeps. */
const PROCESSES_LEFT = 6;

/** An attack: what is sent, and what its sender is to get. */
export interface Attack {
  readonly name: string;
  /** The body of the order. */
  readonly order: (villain: Villain) => Record<string, unknown>;
  /** `completed`, or the codes that it may fail with. */
  readonly ends: readonly string[];
  /** Of the attacker's; default `business`. */
  readonly plan?: PlanName;
  /** What one of its scripts has to have told, besides that it began. */
  readonly tells?: RegExp;
  /** What its script may throw: an error of the browser's, when there is no more of what it takes. */
  readonly mayThrow?: RegExp;
  /** How many callers send it at once, and wait for their PDFs. Otherwise it is sent once, for the background. */
  readonly callers?: number;
}

/** A running standalone with a neighbour in it, for somebody to attack. */
export interface Arena {
  readonly service: TestService;
  readonly villain: Villain;
  /** Does `attack` while the neighbour renders. Fails when something is left afterwards: a process, a file, memory. */
  undergo(attack: (attacker: Tenant) => Promise<void>): Promise<Experience>;
  /** The same, and fails when the neighbour notices. */
  withstand(attack: (attacker: Tenant) => Promise<void>): Promise<void>;
  /**
   * Sends the orders of `attack`, and looks at how they end, while the neighbour renders. Its scripts must have begun, and
   * not have ended with an error: otherwise nothing would have been withstood.
   *
   * @param judge looks at what the neighbour has met with, each time that the attack is made.
   */
  survive(attack: Attack, judge?: (experience: Experience) => void): Promise<void>;
  close(): Promise<void>;
}

/** @param options with which the neighbour renders. */
export async function openArena(
  environment: Record<string, string> = {},
  options?: Record<string, unknown>,
): Promise<Arena> {
  const villain = await startVillain();
  const service = await openStandaloneService(environment);
  const neighbour = await service.newTenant('business');
  const { pid } = service.roles.get('standalone')!;
  const rendersDuring = (work: Promise<unknown>) =>
    neighbourDuring(neighbour.client, work, options && { options });
  // The first ones are those that warm it up.
  await rendersDuring(sleep(500));
  let alone: Experience = await rendersDuring(sleep(ALONE_MS));

  async function undergo(
    attack: (attacker: Tenant) => Promise<void>,
    plan: PlanName = 'business',
  ): Promise<Experience> {
    const attacker = await service.newTenant(plan);
    const before = await leftBehind(pid);
    const during = await rendersDuring(attack(attacker));
    await assertNothingLeft(pid, before);
    return during;
  }

  async function withstand(
    attack: (attacker: Tenant) => Promise<void>,
    judge: (experience: Experience) => void = () => undefined,
    plan?: PlanName,
  ): Promise<void> {
    for (let tries = 1; ; tries++) {
      const during = await undergo(attack, plan);
      judge(during);
      if (isUnharmed(during, alone)) return;
      if (tries === TRIES) assertUnharmed(during, alone);
      // Whatever else the machine does may have been the reason: both are looked at anew.
      alone = await rendersDuring(sleep(ALONE_MS));
    }
  }

  async function send(attacker: Tenant, attack: Attack): Promise<void> {
    const { order, ends, name, callers } = attack;
    villain.told.reset();
    const body = order(villain);
    const found =
      callers === undefined
        ? [await endOf(attacker, await attacker.client.order(body))]
        : await Promise.all(Array.from({ length: callers }, () => rendered(attacker, body)));
    for (const end of found) assert.ok(ends.includes(end), `${name} ended with ${end}`);
    assertMade(attack, villain);
  }

  return {
    service,
    villain,
    undergo,
    withstand,
    survive: (attack, judge) => withstand((attacker) => send(attacker, attack), judge, attack.plan),
    async close() {
      await service.stop();
      await villain.close();
    },
  };
}

/** Fails when the document did nothing: its script did not begin, or ended with an error. */
function assertMade({ name, tells, mayThrow }: Attack, { told }: Villain): void {
  const all = told.all.join(', ');
  if (told.expected) assert.ok(told.all.includes(BEGAN), `the script of ${name} did not begin`);
  for (const thrown of told.all.filter((what) => what.startsWith('threw ')))
    assert.ok(mayThrow?.test(thrown), `${name} ${thrown}`);
  if (tells !== undefined) assert.match(all, tells, `${name} told ${all}`);
}

/** How a render ends whose caller waits for it, and for what comes of it later: `completed`, or a code. */
export async function rendered(attacker: Tenant, body: Record<string, unknown>): Promise<string> {
  const { status, json } = await attacker.client.render(body);
  if (status === 200) return 'completed';
  return status === 202 ? await endOf(attacker, json.jobId) : json.code;
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

/** The folders of its browsers, in which is all that they write. */
async function filesOf(pid: number): Promise<string[]> {
  const folders = await readdir(join(tmpdir(), 'platen-chromium'));
  return folders.filter((name) => name.startsWith(`${pid}-`));
}

async function assertNothingLeft(pid: number, before: LeftBehind): Promise<void> {
  let now = before;
  const wrong = () => {
    const { processes, memory, files } = now;
    if (processes > before.processes + PROCESSES_LEFT) return `${processes} processes`;
    if (files.length > before.files.length) return files.join(', ');
    if (memory > before.memory + MEMORY_LEFT) return `${Math.round(memory / 1024 ** 2)} MiB`;
    return undefined;
  };
  await eventually(
    'nothing is left of the attack',
    async () => {
      now = await leftBehind(pid);
      return wrong() === undefined;
    },
    30_000,
  ).catch(() => assert.fail(`of the attack is left: ${wrong()}, of ${JSON.stringify(before)}`));
}
