import { setFlagsFromString } from 'node:v8';

/** How far the old generation may grow beyond its size after the last collection, in percent. */
const GROWTH_PERCENT = 100;

/**
 * Has V8 collect the old generation when its size has doubled. By default V8 collects after a growth of 10% in a
 * process that allocates slowly, as this one does: every one or two seconds, and all cores then mark for 50 to 100 ms,
 * while renders wait for them. See docs/overload.md.
 *
 * To be called before much is loaded. The limit of the heap size stays as it is.
 */
export function letHeapGrow(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`);
}

/**
 * Has V8 keep the heap small, in a process in which nobody waits for a few milliseconds: the part for new objects stays at
 * its first size, in place of growing to a hundred megabytes while much is read that is not kept.
 *
 * To be called when most code is loaded: what V8 has compiled before is for its flags.
 */
export function keepHeapSmall(): void {
  setFlagsFromString('--semi-space-growth-factor=1');
}
