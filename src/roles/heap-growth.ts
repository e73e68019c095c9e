import { setFlagsFromString } from 'node:v8';

/** How far what has lived for some time may grow beyond what the last collection left of it. Percent. */
const GROWTH_PERCENT = 100;

/**
 * Has this process collect the garbage of its old generation when that has doubled. V8 by itself begins again after a
 * tenth more where memory is asked for slowly, as here: once in a second or two, and all cores mark for 50 to 100 ms
 * then, while renders wait for them. See docs/decisions/0229-collect-less-often.md.
 *
 * To be called before much is loaded. What V8 bounds the heap to in the end is left as it is.
 */
export function letHeapGrow(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`);
}
