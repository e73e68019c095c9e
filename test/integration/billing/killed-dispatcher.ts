import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Killing } from './dispatcher-process.ts';
import type { Life, LifeRig } from './life-rig.ts';

const PROCESS = fileURLToPath(new URL('dispatcher-process.ts', import.meta.url));

/** Has events followed by a dispatcher of its own that is killed, without warning, before or after an operation. */
export async function followAndDie(
  { uri }: LifeRig,
  { standIn, selling, clock, apiBase, deliverer }: Life,
  when: 'before' | 'after',
  operation: Killing,
): Promise<void> {
  await deliverer.deliverAll();
  await selling.events.resolveWaiting();
  const args = [uri, apiBase, standIn.secretKey, String(clock.now().getTime()), when, operation];
  const child = spawn(process.execPath, [PROCESS, ...args], { stdio: ['ignore', 'inherit', 'inherit'] });
  const [, signal] = await once(child, 'exit');
  assert.equal(signal, 'SIGKILL');
}
