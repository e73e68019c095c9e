#!/usr/bin/env node
import { letHeapGrow } from './overload/heap-growth.ts';
import { hideSecrets } from './roles/hidden-environment.ts';

/** The roles that start browsers. */
const WITH_BROWSERS: readonly (string | undefined)[] = ['worker', 'standalone'];

// First of all, and before anything is loaded: the process may begin anew here.
const environment = WITH_BROWSERS.includes(process.argv[2]) ? hideSecrets(process.env) : process.env;
letHeapGrow();
const { runPlaten } = await import('./platen.ts');
runPlaten(environment);
