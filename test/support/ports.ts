import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Below the ports that Linux gives to connections (ip_local_port_range, from 32768 on), so that no connection takes a
 * port before its server has it, or while that server restarts; above those that fetch refuses.
 */
const LOWEST = 12_000;
const BEYOND = 32_000;

// At a random position, since other processes of the same tests look for ports too.
let next = randomInt(LOWEST, BEYOND);

/**
 * A port that nothing listens on, for a program that cannot choose one by itself. Never the same twice in a process
 * before all others were used: of two ports for one program, the first is still free when the second is requested.
 */
export async function freePort(): Promise<number> {
  for (let checked = LOWEST; checked < BEYOND; checked += 1) {
    const port = next;
    next = next + 1 < BEYOND ? next + 1 : LOWEST;
    if (await isFree(port)) return port;
  }
  throw new Error(`Every port from ${LOWEST} to ${BEYOND - 1} is taken.`);
}

async function isFree(port: number): Promise<boolean> {
  // On every address of the machine: some of the programs listen there.
  const server = createServer().listen(port, '0.0.0.0');
  try {
    await once(server, 'listening');
  } catch {
    return false;
  }
  server.close();
  await once(server, 'close');
  return true;
}
