import { setTimeout as pause } from 'node:timers/promises';
import { render, rendererProcesses, startBench, stateOf } from './support.ts';

/**
 * Renders for ever, under the folder it is given, with the browser it is given if any, until it is killed. Two pages take
 * turns at one core: one of them stands still.
 */
const [, , userDataRoot, browserPath] = process.argv;
const bench = await startBench({ userDataRoot: userDataRoot!, browserPath, cores: 1 });
await render(bench, '<p>x');
const endless = (accountId: string) =>
  render(bench, '<p>x<script>for (;;);</script>', {}, { accountId, timeoutMs: 60_000 });
const both = [endless('one'), endless('other')];
while (!rendererProcesses().some((pid) => stateOf(pid) === 'T')) await pause(10);
console.log('ready');
await Promise.all(both);
