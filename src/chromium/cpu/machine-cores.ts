import { availableParallelism } from 'node:os';

/** What a render is taken to have in memory while it waits, on average. Bytes. */
const RENDER_BYTES = 96 * 1024 * 1024;
/** Part of all memory that renders which wait may have. */
const RENDERS_PART = 0.25;
/** Renders that wait for a second, as for a slow picture, keep a core busy with what they compute when so many share it. */
const SLOTS_PER_CORE = 8;

/** Cores that renders may use, at least 2. */
export function coresOfMachine(): number {
  return Math.max(2, availableParallelism());
}

/** The default of the slots of a worker. @param memoryBytes of the machine. */
export function defaultSlots(memoryBytes: number): number {
  const cores = coresOfMachine();
  const inMemory = Math.floor((memoryBytes * RENDERS_PART) / RENDER_BYTES);
  return Math.min(256, Math.max(cores, Math.min(cores * SLOTS_PER_CORE, inMemory)));
}
