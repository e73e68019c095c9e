/*
 * `platen <role>`, but for one thing: it ends when its stdin does, so that nothing outlives a test run, however that
 * ends.
 */
process.stdin.on('end', () => process.exit(1));
process.stdin.on('error', () => process.exit(1));
process.stdin.resume();
await import('../../src/main.ts');
