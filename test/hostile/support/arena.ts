import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../../support/eventually.ts';
import { descendants } from '../../support/processes.ts';
import { openStandaloneService, type Tenant, type TestService } from '../../support/service.ts';
import { treeMemory } from '../../support/tree-memory.ts';
import { assertUnharmed, type Experience, isUnharmed, neighbourDuring } from './neighbour.ts';
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
  /** How many callers send it at once, and wait for their PDFs. Otherwise it is sent once, for the background. */
  readonly callers?: number;
}

/** A running standalone with a neighbour in it, for somebody to attack. */
export interface Arena {
  readonly service: TestService;
  readonly villain: Villain;
  /**
   * Does `attack` while the neighbour renders. Fails when the neighbour notices, or when something is left afterwards:
   * a process, a file, memory.
   */
  withstand(attack: (attacker: Tenant) => Promise<void>): Promise<void>;
  /** Sends the orders of `attack`, and looks at how they end, while the neighbour renders. */
  survive(attack: Attack): Promise<void>;
  /** The same, but for how slow the neighbour may become: that is for the caller to judge. */
  endure(attack: Attack): Promise<Experience>;
  close(): Promise<void>;
}

export async function openArena(environment: Record<string, string> = {}): Promise<Arena> {
  const villain = await startVillain();
  const service = await openStandaloneService(environment);
  const neighbour = await service.newTenant('business');
  const { pid } = service.roles.get('standalone')!;
  // The first ones are those that warm it up.
  await neighbourDuring(neighbour.client, sleep(500));
  let alone: Experience = await neighbourDuring(neighbour.client, sleep(ALONE_MS));

  async function attacked(attack: (attacker: Tenant) => Promise<void>): Promise<Experience> {
    const attacker = await service.newTenant('business');
    const before = await leftBehind(pid);
    const during = await neighbourDuring(neighbour.client, attack(attacker));
    await assertNothingLeft(pid, before);
    return during;
  }

  async function withstand(attack: (attacker: Tenant) => Promise<void>): Promise<void> {
    for (let tries = 1; ; tries++) {
      const during = await attacked(attack);
      if (isUnharmed(during, alone)) return;
      if (tries === TRIES) assertUnharmed(during, alone);
      // Whatever else the machine does may have been the reason: both are looked at anew.
      alone = await neighbourDuring(neighbour.client, sleep(ALONE_MS));
    }
  }

  async function send(attacker: Tenant, { order, ends, name, callers }: Attack): Promise<void> {
    const body = order(villain);
    const found =
      callers === undefined
        ? [await endOf(attacker, await attacker.client.order(body))]
        : await Promise.all(Array.from({ length: callers }, () => rendered(attacker, body)));
    for (const end of found) assert.ok(ends.includes(end), `${name} ended with ${end}`);
  }

  return {
    service,
    villain,
    withstand,
    survive: (attack) => withstand((attacker) => send(attacker, attack)),
    endure: (attack) => attacked((attacker) => send(attacker, attack)),
    async close() {
      await service.stop();
      await villain.close();
    },
  };
}

/** How a render ends whose caller waits for it: `completed`, or a code. */
async function rendered(attacker: Tenant, body: Record<string, unknown>): Promise<string> {
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
    15_000,
  ).catch(() => assert.fail(`of the attack is left: ${wrong()}, of ${JSON.stringify(before)}`));
}
