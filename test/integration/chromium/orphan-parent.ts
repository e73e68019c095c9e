import { render, startBench } from './support.ts';

/** Renders for ever, under the folder it is given, with the browser it is given if any, until it is killed. */
const [, , userDataRoot, browserPath] = process.argv;
const bench = await startBench({ userDataRoot: userDataRoot!, browserPath });
await render(bench, '<p>x');
console.log('ready');
await render(bench, '<p>x<script>for (;;);</script>', {}, { timeoutMs: 60_000 });
