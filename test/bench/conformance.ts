/**
 * What PDFs that conform cost: one document of many pages, printed without any option, and with each of those that change the
 * PDF after it is printed, in turn. Prints the processor time of each as a multiple of the print without options, and of that
 * with tags; the lowest and the highest round beside the median. Says as well that none of them runs without being asked for.
 *
 * BENCH_ROUNDS (default 3), BENCH_PAGES (default 500). Alone: `BENCH_PART=conformance make bench`.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { RenderOptions } from '../../src/render/options/all/render-options.ts';
import { openSeal } from '../../src/render/seal/placeholder.ts';
import { createKeySigner } from '../../src/render/seal/signer.ts';
import { render, startBench } from '../integration/chromium/support.ts';
import { exampleXml } from '../support/invoice.ts';
import { descendants } from '../support/processes.ts';
import { sharedSealKeys } from '../support/seal-keys.ts';
import { watchCpu } from './cpu.ts';
import { spread } from './load.ts';

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 3);
const PAGES = Number(process.env.BENCH_PAGES ?? 500);
const TIMEOUT_MS = 600_000;

const sentence =
  'The measurements of this station were taken by hand, and compared with those of the year before. ';
const section = (i: number) =>
  `<section><h2>Station ${i}</h2>${`<p>${sentence.repeat(7)}</p>`.repeat(4)}<ul><li>north</li><li>south</li></ul>` +
  `<p><a href="https://stations.example/${i}">Its page</a></p></section>`;
const HTML =
  '<!doctype html><html lang="en"><title>Measurements</title><style>section + section { break-before: page }</style>' +
  `<h1>Measurements</h1>${Array.from({ length: PAGES }, (_, i) => section(i)).join('')}`;

const SETS: Readonly<Record<string, RenderOptions>> = {
  'no option': {},
  tagged: { tagged: true, outline: true },
  'PDF/A-2b': { conformance: { pdfa: '2b' } },
  'PDF/A-2a and PDF/UA-1': { conformance: { pdfa: '2a', pdfua: true } },
  attachments: {
    attachments: [{ name: 'data.csv', content: Buffer.alloc(100_000, 'a,b\n').toString('base64') }],
  },
  'e-invoice, with PDF/A-3b': { einvoice: { profile: 'en16931', xml: exampleXml('en16931') } },
  protection: { protection: { userPassword: 'open', ownerPassword: 'owner' } },
  seal: { seal: { key: { keyId: 'invoices' } } },
};

const bench = await startBench();
const signer = createKeySigner({ folder: (await sharedSealKeys()).folder, logger: console });

/** Of a process that may have ended since. */
function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}

/** Processor seconds of a render. */
async function measure(options: RenderOptions): Promise<number> {
  const cpu = watchCpu({ node: { pids: [process.pid] }, below: { below: process.pid } });
  const { bytes, pages } = await render(bench, HTML, options, { timeoutMs: TIMEOUT_MS });
  if (options.seal !== undefined) {
    const open = openSeal(bytes);
    const { signal } = new AbortController();
    const { cms } = await signer.sign('invoices', open.digest, {
      account: 'a',
      withinMs: TIMEOUT_MS,
      signal,
    });
    open.close(cms);
  }
  assert.ok(pages >= PAGES);
  return cpu.stop().seconds;
}

const finishers = () => descendants(process.pid).filter(({ pid }) => commandOf(pid).includes('finish-main'));
for (const name of ['no option', 'tagged']) {
  await measure(SETS[name]!);
  assert.deepEqual(finishers(), [], `${name} needs no process that finishes PDFs`);
}
console.log(
  `\n${PAGES} pages, ${ROUNDS} rounds; without options, and with tags, no process that finishes PDFs was started`,
);
for (const options of Object.values(SETS)) await measure(options);
assert.equal(finishers().length, 1, 'the others need one');
const measured = new Map<string, number[]>(Object.keys(SETS).map((name) => [name, []]));
for (let round = 0; round < ROUNDS; round += 1)
  for (const [name, options] of Object.entries(SETS)) measured.get(name)!.push(await measure(options));
const of = (name: string, other: string) =>
  spread(
    measured.get(name)!.map((seconds, i) => seconds / measured.get(other)![i]!),
    2,
  );
for (const [name, seconds] of measured)
  console.log(
    `  ${name}: ${of(name, 'no option')} of no option, ${of(name, 'tagged')} of tagged; ${spread(seconds, 2)} s`,
  );
await signer.close();
await bench.close();
process.exit(0);
