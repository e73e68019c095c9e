import { render, startBench } from './support.ts';

/** Renders for ever, under the folder it is given, until it is killed. */
const bench = await startBench({ userDataRoot: process.argv[2]! });
await render(bench, '<p>x');
console.log('ready');
await render(bench, '<p>x<script>for (;;);</script>', {}, { timeoutMs: 60_000 });
