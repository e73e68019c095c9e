import { availableParallelism } from 'node:os';

/** Assumed mean memory of a render while it waits. Bytes. */
const RENDER_BYTES = 96 * 1024 * 1024;
/** Part of all memory that waiting renders may use. */
const RENDERS_PART = 0.25;
/** Slots per core: so many renders keep it busy even if each waits for a second, as for a slow image. */
const SLOTS_PER_CORE = 8;

/** Cores that renders may use, at least 2. */
export function coresOfMachine(): number {
  return Math.max(2, availableParallelism());
}

/** The default number of slots of a worker. @param memoryBytes memory of the machine. */
export function defaultSlots(memoryBytes: number): number {
  const cores = coresOfMachine();
  const inMemory = Math.floor((memoryBytes * RENDERS_PART) / RENDER_BYTES);
  return Math.min(256, Math.max(cores, Math.min(cores * SLOTS_PER_CORE, inMemory)));
}
