/**
 * Compiles what most processes of the tests load, once for all of them: each set of tests, and each process that a test starts
 * from the sources, finds it in the folder of NODE_COMPILE_CACHE. One that is killed would not leave what it has compiled.
 */
await import('../integration/http/support/api.ts');
await import('../integration/chromium/support.ts');
await import('./service.ts');
await import('./kafka.ts');
process.exit(0);
