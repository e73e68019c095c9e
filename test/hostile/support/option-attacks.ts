import { randomBytes } from 'node:crypto';
import { invoiceOfLines } from '../../support/invoice.ts';
import type { Attack } from './attack.ts';
import { began } from './scripts.ts';

const options = { timeoutMs: 3000 };
/** Options of attacks that must end before their deadline. */
const patient = { timeoutMs: 30_000 };
const MIB = 1024 ** 2;

/** Documents whose options do harm. */
export const OPTION_ATTACKS: readonly Attack[] = [
  ...[
    ['computes without end', '(() => { for (;;); })()'],
    ['throws a megabyte', `(() => { throw new Error('x'.repeat(${MIB})) })()`],
    ['rejects with a megabyte', `Promise.reject('x'.repeat(${MIB}))`],
    ['never settles', 'new Promise(() => undefined)'],
    ['closes what it is put into', '1)), setInterval(() => { for (;;); }), ((async () => (false'],
  ].map(
    ([what, waitForExpression]): Attack => ({
      name: `an awaited expression that ${what}`,
      submission: (villain) => ({
        html: `<script>${began(villain)}</script><p>x`,
        options: { ...options, waitForExpression },
      }),
      ends: ['CONDITION_TIMEOUT'],
    }),
  ),
  {
    name: 'an awaited expression that comes to a cycle of a hundred megabytes',
    submission: (villain) => ({
      html: `<script>${began(villain)}; globalThis.held = { text: 'x'.repeat(${100 * MIB}) }; held.held = held</script><p>x`,
      options: { ...patient, waitForExpression: 'held' },
    }),
    ends: ['completed'],
  },
  {
    name: 'a form of 100,000 fields',
    submission: () => ({ html: '<input>'.repeat(100_000), options: { ...patient, forms: true } }),
    ends: ['DOCUMENT_LIMIT'],
  },
  {
    name: 'a form whose script takes off whatever is put into it',
    submission: (villain) => ({
      html: `<script>${began(villain)}; new MutationObserver(([{ addedNodes }]) => addedNodes.forEach((node) => node.remove()))
        .observe(document, { childList: true, subtree: true, attributes: true })</script><p><input name="a">`,
      options: { ...patient, forms: true },
    }),
    ends: ['completed'],
  },
  {
    name: 'a script of the render that never ends',
    submission: (villain) => ({
      html: '<p>x',
      options: { ...options, scripts: [`${began(villain)}; for (;;);`] },
    }),
    ends: ['RENDER_TIMEOUT'],
    byFree: true,
  },
  {
    name: 'a script of the render that leaves the document again and again',
    submission: (villain) => ({
      html: '<p>x',
      options: { ...options, scripts: [`${began(villain)}; location.reload()`], waitForEvent: 'never' },
    }),
    ends: ['CONDITION_TIMEOUT', 'URL_UNREACHABLE'],
  },
  {
    name: 'a flood of the event that is waited for',
    submission: (villain) => ({
      html: `<script>${began(villain)}; for (let i = 0; i < 1_000_000; i++) dispatchEvent(new Event('ready'))</script><p>x`,
      options: { ...patient, waitForEvent: 'ready' },
    }),
    ends: ['completed'],
  },
  {
    name: 'fifty cookies of 4 KB each',
    submission: (villain) => ({
      html: `<script>${began(villain)}</script><img src="${villain.origin}/x"><p>x`,
      options: {
        ...options,
        cookies: Array.from({ length: 50 }, (_, i) => ({
          name: `c${i}`,
          value: 'x'.repeat(4000),
          url: villain.origin,
          sameSite: 'None',
          secure: true,
        })),
      },
    }),
    ends: ['completed', 'RENDER_TIMEOUT'],
  },
  {
    name: 'ten style sheets of 100 kB of universal selectors over 20,000 elements',
    submission: (villain) => ({
      html: `<script>${began(villain)}; document.write('<b>x</b>'.repeat(20_000))</script>`,
      options: { ...options, styles: Array(10).fill(`${'* '.repeat(49_980)}{ color: red }`) },
    }),
    ends: ['completed', 'RENDER_TIMEOUT', 'BROWSER_CRASHED'],
    byFree: true,
  },
  {
    name: 'a canvas in the largest window that there is',
    submission: (villain) => ({
      html: `<script>${began(villain)}; requestAnimationFrame(() => { document.body.style.background = 'red' })</script><div style="height: 200vh; background: linear-gradient(red, blue)">x</div>`,
      options: { ...patient, viewport: { width: 3125, height: 1000, deviceScaleFactor: 4 } },
    }),
    ends: ['completed'],
  },
  {
    name: 'a single page of a mile',
    submission: (villain) => ({
      html: `<script>${began(villain)}</script><div style="height: 63360in">x`,
      options: { ...patient, singlePage: true },
    }),
    ends: ['DOCUMENT_LIMIT'],
  },
  {
    name: 'a table with tags that would take a minute to print',
    submission: (villain) => ({
      html: `<script>${began(villain)}</script><table>${'<tr><td>x<td>y'.repeat(40_000)}</table>`,
      options: { ...patient, conformance: { pdfua: true, onFault: 'report' } },
    }),
    ends: ['DOCUMENT_LIMIT'],
  },
  {
    name: 'pages that there are not, after ten seconds',
    submission: (villain) => ({
      html: `<script>${began(villain)}</script><p>x`,
      options: { ...patient, delayMs: 10_000, pageRanges: '2-' },
    }),
    ends: ['PAGE_RANGE_INVALID'],
  },
  {
    name: 'fifty patterns of blocked requests that take long to match',
    submission: (villain) => ({
      html: `<script>${began(villain)}; const ask = () => fetch('/' + 'a'.repeat(8000)).catch(() => 0);
        addEventListener('load', async () => { for (let i = 0; i < 200; i++) await ask(); p.className = 'done' })</script><p id=p>x`,
      options: {
        ...options,
        waitForSelector: '.done',
        blockRequests: { urls: Array(50).fill(`*${'a'.repeat(240)}b*`), kinds: ['media'] },
        assetHeaders: { 'X-Asset': 'a' },
      },
    }),
    ends: ['completed', 'SELECTOR_TIMEOUT'],
  },
  {
    name: 'twenty attachments, as large together as a body may be',
    submission: (villain) => ({
      html: `<script>${began(villain)}</script><p>x`,
      options: {
        ...patient,
        attachments: Array.from({ length: 20 }, (_, i) => ({
          name: `${i}.bin`,
          content: randomBytes(375_000).toString('base64'),
        })),
      },
    }),
    ends: ['completed'],
  },
  {
    name: 'an e-invoice whose XML is as large as it may be',
    submission: (villain) => ({
      html: `<script>${began(villain)}</script><p>x`,
      options: { ...patient, einvoice: { profile: 'en16931', data: invoiceOfLines(850) } },
    }),
    ends: ['completed'],
  },
  {
    name: 'a table of contents of 20,000 entries that all lead to one place',
    submission: (villain) => ({
      html: `<script>${began(villain)}; document.write('<p id=a>x</p>' + '<a href="#a"><b data-page></b></a> '.repeat(20_000))</script>`,
      options: { ...options, tableOfContents: true },
    }),
    ends: ['completed', 'RENDER_TIMEOUT'],
  },
];
