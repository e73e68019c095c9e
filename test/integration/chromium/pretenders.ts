/** Waits until it is taken to be at rest. */
const WAITS_FIRST = 700;
/** What a page computes at a time beside others of its account. */
const BUDGET_MS = 1000;

const later = (ms: number, work: string) => `<p>x<script>setTimeout(() => { ${work} }, ${ms})</script>`;

/** Documents that are taken to wait, and compute. */
export const PRETENDERS: Readonly<Record<string, string>> = {
  'compute without end': later(WAITS_FIRST, `for (;;);`),
  'compute in short tasks': later(
    WAITS_FIRST,
    `const spin = () => { for (const end = performance.now() + 5; performance.now() < end;); setTimeout(spin) }; spin()`,
  ),
  'compute in a worker': later(WAITS_FIRST, `new Worker(URL.createObjectURL(new Blob(['for (;;);'])))`),
  'compute for a fifth of the time': later(
    WAITS_FIRST,
    `setInterval(() => { for (const end = performance.now() + 20; performance.now() < end;); }, 100)`,
  ),
};

/** One that computes once it has had its turn, and before the next step is. */
export const AFTER_ITS_BUDGET = `<script>for (const end = performance.now() + ${BUDGET_MS + 100}; performance.now() < end;);</script>${later(10, 'for (;;);')}`;
