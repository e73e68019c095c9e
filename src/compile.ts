/**
 * Fills the compile cache of the bundle, so that the first start of each role, and each start where the folder cannot be
 * written, finds it: `node dist/compile.js`, by the user that will run it.
 */
import { readdirSync } from 'node:fs';
import { flushCompileCache } from 'node:module';
import { letHeapGrow } from './infra/overload/heap-growth.ts';
import { useCompileCache } from './roles/process/compile-cache.ts';

/** The code of all roles and commands, once bundled. */
const CHUNKS = new URL('./chunks/', import.meta.url);

// The flags of V8 are part of what compiled code is for, so they are set as in a role.
letHeapGrow();
useCompileCache();
for (const name of readdirSync(CHUNKS)) {
  if (name.endsWith('.js')) await import(new URL(name, CHUNKS).href);
}
flushCompileCache();
process.exit(0);
