import { join } from 'node:path';

/** The folder of the sources. */
export const ROOT = join(import.meta.dirname, '..', '..');
