import { ENDLESS_DRAWING, ENDLESS_DRAWING_LEFT } from '../../support/endless-drawing.ts';
import type { Attack } from './attack.ts';
import { began, report, working } from './scripts.ts';

const options = { timeoutMs: 3000 };
const done = { ...options, waitForSelector: '.done' };
const MIB = 1024 ** 2;

/** The codes of a render that takes longer than it may, in any step. */
const TOO_LONG = ['RENDER_TIMEOUT', 'SELECTOR_TIMEOUT'];
/** Whether the render ends in time depends on the machine. */
const SLOW = ['completed', ...TOO_LONG];

const spin = `new Worker(URL.createObjectURL(new Blob(['for (;;);'])))`;

/** Documents with impossible demands. */
export const FOUND_ATTACKS: readonly Attack[] = [
  {
    name: 'elements that are nested 30,000 deep',
    submission: (villain) => ({
      html: working(
        villain,
        `let e = p; for (let i = 0; i < 30_000; i++) e = e.appendChild(document.createElement('div'))`,
      ),
      options: done,
    }),
    ends: [...SLOW, 'BROWSER_CRASHED'],
  },
  {
    name: 'boxes of more pages than anybody can read',
    submission: () => ({
      html: '<div style="height:30000000px;border:1px solid"></div><div style="position:absolute;inset:0 -1e9px -1e9px 0">',
      options,
    }),
    ends: [...SLOW, 'OUTPUT_TOO_LARGE'],
  },
  {
    name: 'a thousand canvases',
    submission: (villain) => ({
      html: working(
        villain,
        `for (let i = 0; i < 1000; i++) { const c = document.createElement('canvas');
        c.width = c.height = 4096; c.getContext('2d').fillRect(0, 0, 4096, 4096); document.body.append(c) }`,
      ),
      options: done,
    }),
    ends: [...SLOW, 'BROWSER_CRASHED', 'OUTPUT_TOO_LARGE'],
    byFree: true,
  },
  {
    name: 'a shader without end',
    submission: () => ({ html: ENDLESS_DRAWING, options }),
    ends: [...TOO_LONG, 'BROWSER_CRASHED'],
    byFree: true,
  },
  {
    name: 'a shader without end that is left behind',
    submission: () => ({ html: ENDLESS_DRAWING_LEFT, options }),
    ends: [...SLOW, 'BROWSER_CRASHED'],
    byFree: true,
  },
  {
    name: 'thousands of fonts',
    submission: () => ({
      html: `<style>${Array.from({ length: 5000 }, (_, i) => `@font-face { font-family: f${i}; src: url(data:font/woff2;base64,d09GMgABAAAAA${i}) } .f${i} { font-family: f${i} }`).join('')}</style>${Array.from({ length: 5000 }, (_, i) => `<i class=f${i}>x</i>`).join('')}`,
      options,
    }),
    ends: SLOW,
  },
  {
    name: 'SVG filters upon SVG filters',
    submission: () => ({
      html: `<svg width=4000 height=4000><filter id=f x=-5 y=-5 width=11 height=11>${'<feTurbulence baseFrequency=".9" numOctaves="9"/><feGaussianBlur stdDeviation="200"/><feMorphology operator="dilate" radius="90"/>'.repeat(50)}</filter><rect width=4000 height=4000 filter="url(#f)"/></svg>`,
      options,
    }),
    ends: [...SLOW, 'BROWSER_CRASHED', 'OUTPUT_TOO_LARGE'],
  },
  {
    name: 'counters of counters',
    submission: () => ({
      html: `<style>i { counter-reset: c; counter-increment: c } i::before { content: counters(c, "${'.'.repeat(99)}") }</style>${'<i>'.repeat(400)}${'<b><i>x</i></b>'.repeat(20_000)}`,
      options,
    }),
    ends: [...SLOW, 'BROWSER_CRASHED', 'OUTPUT_TOO_LARGE'],
  },
  {
    name: 'a table of overlapping spans',
    submission: () => ({
      html: `<table border=1>${`<tr>${'<td rowspan=60000 colspan=900>x'.repeat(20)}`.repeat(300)}</table>`,
      options,
    }),
    ends: [...SLOW, 'BROWSER_CRASHED', 'OUTPUT_TOO_LARGE'],
  },
  {
    name: 'selectors that look at everything for everything',
    submission: () => ({
      html: `<style>${Array.from({ length: 200 }, (_, i) => `:has(~ b:nth-last-child(${i + 2}n of :not(i, u))) *, .c${i} ~ b { color: red }`).join('')}</style>${'<b><u><i>x</i></u></b>'.repeat(10_000)}`,
      options,
    }),
    // Each of 200 rules examines all elements before each of 10,000 elements.
    ends: TOO_LONG,
    byFree: true,
  },
  {
    name: 'paper as large as a country, and as small as a dot',
    submission: () => ({
      html: `<style>@page { size: 9000000in 9000000in; margin: 0 } @page dot { size: 0.01in 0.01in } i { page: dot }</style><p>x</p>${'<i>x</i> '.repeat(500)}`,
      options: { ...options, preferCSSPageSize: true },
    }),
    ends: [...SLOW, 'BROWSER_CRASHED', 'OUTPUT_TOO_LARGE', 'RENDER_FAILED'],
  },
  {
    name: 'WebAssembly that takes four gigabytes',
    submission: (villain) => ({
      html: working(
        villain,
        `const memory = new WebAssembly.Memory({ initial: 1, maximum: 65536 });
        for (let i = 0; i < 60; i++) { memory.grow(1000); new Uint8Array(memory.buffer).fill(1); await 0 }`,
      ),
      options: done,
    }),
    mayThrow: /RangeError|NotReadableError/,
    ends: ['BROWSER_CRASHED', ...TOO_LONG],
    byFree: true,
  },
  {
    name: 'workers that compute without end, more and more of them',
    submission: (villain) => ({
      html: working(villain, `setInterval(() => ${spin}, 1); await new Promise(() => 0)`),
      options: done,
    }),
    ends: ['DOCUMENT_LIMIT', 'BROWSER_CRASHED', ...TOO_LONG],
    byFree: true,
  },
  {
    name: 'blobs of three gigabytes',
    submission: (villain) => ({
      html: working(
        villain,
        `const blobs = []; for (let i = 0; i < 60; i++) {
        blobs.push(new Blob([new Uint8Array(${50 * MIB}).fill(i)])); await blobs[i].slice(0, 1).text() }`,
      ),
      options: done,
    }),
    mayThrow: /RangeError|NotReadableError/,
    ends: [...SLOW, 'BROWSER_CRASHED'],
    byFree: true,
  },
  {
    name: 'frames in frames',
    submission: (villain) => ({
      html: `<script>if (self === top) ${began(villain)}; const html = document.documentElement.outerHTML;
        for (let i = 0; i < 10; i++) document.write('<iframe srcdoc="' + html.replaceAll('&', '&amp;').replaceAll('"', '&quot;') + '"></iframe>')</script>`,
      options,
    }),
    ends: [...SLOW, 'DOCUMENT_LIMIT', 'BROWSER_CRASHED'],
    byFree: true,
  },
  {
    name: 'addresses and titles that change without end',
    submission: (villain) => ({
      html: working(
        villain,
        `const end = performance.now() + 2000; for (let i = 0; performance.now() < end; i++) {
        history.replaceState(0, '', '/' + i + 'x'.repeat(2000)); document.title = i; if (i % 100 == 0) await new Promise((r) => setTimeout(r)) }`,
      ),
      options: done,
    }),
    ends: [...SLOW, 'DOCUMENT_LIMIT'],
  },
  {
    name: 'errors that nobody catches, without end',
    submission: (villain) => ({
      html: working(villain, `for (let i = 0; i < 100_000; i++) reportError(new Error('x'.repeat(500)))`),
      options: done,
    }),
    ends: SLOW,
  },
  {
    name: 'storage that is filled to the brim',
    submission: (villain) => ({
      html: working(
        villain,
        `const cache = await caches.open('x');
        for (let stored = 1; stored <= 60; stored++) {
          await cache.put('/' + stored, new Response(new Uint8Array(${25 * MIB}).fill(stored)))
            .catch((error) => { ${report(villain, "'full: ' + error")}; stored = 60 });
          if (stored % 10 === 0) ${report(villain, "'stored ' + stored * 25 + ' MiB'")} }`,
      ),
      options: { ...done, timeoutMs: 30_000 },
    }),
    ends: [...SLOW, 'BROWSER_CRASHED'],
    reports: /full: |stored /,
  },
  {
    name: 'requests to its own origin without end',
    submission: (villain) => ({
      html: working(
        villain,
        `const end = performance.now() + 2000; const ask = async () => {
        while (performance.now() < end) await fetch('/x?' + Math.random()).catch(() => 0) };
        await Promise.all(Array.from({ length: 50 }, ask))`,
      ),
      options: done,
    }),
    ends: [...SLOW, 'DOCUMENT_LIMIT'],
  },
];
