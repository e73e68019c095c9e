import { readdirSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import type { OptionCases } from './cases.ts';

const names = readdirSync(dirname(import.meta.dirname))
  .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
  .map((file) => basename(file, '.ts'));

/** The cases of all options, by the name of their file, which is that of the option. */
export const CASES = new Map<string, OptionCases>();
for (const name of names) CASES.set(name, (await import(`../${name}.ts`)).cases);
