#!/usr/bin/env node
import { letHeapGrow } from './infra/overload/heap-growth.ts';
import { useCompileCache } from './roles/process/compile-cache.ts';
import { hideSecrets } from './roles/process/hidden-environment.ts';

/** The roles that start browsers. */
const WITH_BROWSERS: readonly (string | undefined)[] = ['worker', 'standalone'];

// Before anything else is loaded, because `hideSecrets` may restart the process.
const environment = WITH_BROWSERS.includes(process.argv[2]) ? hideSecrets(process.env) : process.env;
letHeapGrow();
useCompileCache();
const { runPlaten } = await import('./platen.ts');
runPlaten(environment);
