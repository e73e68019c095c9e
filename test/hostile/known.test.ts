import { type Arena, type Attack, openArena } from './support/arena.ts';

const options = { timeoutMs: 3000 };
/** Whether it is done in time depends on the machine. */
const SLOW = ['completed', 'RENDER_TIMEOUT', 'SELECTOR_TIMEOUT'];
const MIB = 1024 ** 2;

/** A document whose script has `work` done before it counts as loaded. */
const working = (work: string) =>
  `<p id=p>x</p><script>addEventListener('load', async () => { ${work}; p.className = 'done' })</script>`;
const done = { ...options, waitForSelector: '.done' };

const SVG = 'image/svg+xml;'.repeat(MIB / 14);
const sendsText = (bytes: number) => `fetch('/x', { method: 'POST', body: 'x'.repeat(${bytes}) })`;

const ATTACKS: readonly Attack[] = [
  ...[
    ['text', SVG],
    ['a style sheet', `<style>${SVG}</style>`],
    ['an attribute', `<img src="data:${SVG}"><p style="${SVG}">`],
  ].map(([where, html]) => ({
    name: `a megabyte of the beginnings of an SVG in ${where}`,
    order: () => ({ html: html!, options }),
    ends: SLOW,
  })),
  ...[80, 300].map((mib) => ({
    name: `a request of ${mib} MiB to the document's own origin`,
    order: () => ({ html: working(`await ${sendsText(mib * MIB)}.catch(() => 0)`), options: done }),
    ends: SLOW,
  })),
  {
    name: 'a form of 80 MiB sent to where the document is',
    order: () => ({
      html: `<form method=post action="/"><textarea name=t></textarea></form><script>if (!sessionStorage.sent) {
        sessionStorage.sent = 1; document.forms[0].t.value = 'x'.repeat(${80 * MIB}); document.forms[0].submit() }</script>`,
      options: done,
    }),
    // Chromium itself may end the page that sends so much.
    ends: ['DOCUMENT_LIMIT', 'BROWSER_CRASHED', ...SLOW],
  },
  ...[80, 300].map(
    (mib): Attack => ({
      name: `requests of ${mib} MiB under asset headers`,
      order: ({ origin }) => ({
        html: working(
          `await fetch('${origin}/', { method: 'POST', body: 'x'.repeat(${mib * MIB}) }).catch(() => 0)`,
        ),
        options: { ...done, assetHeaders: { 'X-Asset': 'a' } },
      }),
      ends: ['DOCUMENT_LIMIT', 'BROWSER_CRASHED', 'RENDER_TIMEOUT', 'SELECTOR_TIMEOUT'],
    }),
  ),
  {
    name: 'a flood of console messages',
    order: () => ({
      html: working(`for (let i = 0; i < 300_000; i++) console.log('x'.repeat(100), i)`),
      options: done,
    }),
    ends: SLOW,
  },
  {
    name: 'a flood of dialogs',
    order: () => ({ html: working(`for (let i = 0; i < 10_000; i++) alert(i)`), options: done }),
    ends: ['DOCUMENT_LIMIT'],
  },
  {
    name: 'a source URL with a flood of web-socket frames',
    order: (villain) => ({
      url: villain.page(
        working(`const socket = new WebSocket('${villain.origin.replace('http', 'ws')}/flood');
          await new Promise((resolve) => { socket.onclose = resolve })`),
      ),
      options: done,
    }),
    ends: ['DOCUMENT_LIMIT', 'SELECTOR_TIMEOUT'],
  },
  {
    name: 'a source URL that reads a body of 200 MiB',
    order: (villain) => ({
      url: villain.page(
        working(`await (await fetch('${villain.origin}/bytes?n=${200 * MIB}')).arrayBuffer()`),
      ),
      options: done,
    }),
    ends: ['BROWSER_CRASHED', ...SLOW],
  },
  {
    name: 'a source URL of 600 MiB under a policy of the render',
    order: ({ origin }) => ({
      url: `${origin}/bytes?n=${600 * MIB}`,
      options: { ...options, csp: "script-src 'none'" },
    }),
    ends: ['DOCUMENT_LIMIT'],
  },
  {
    name: 'a document that says of its language what a PDF says of its pages',
    order: () => ({ html: '<html lang="x /Pages 1 0 R"><p>x', options: { ...options, tagged: true } }),
    ends: ['completed'],
  },
];

describe('a neighbour of hostile documents', function () {
  this.timeout(60_000);
  let arena: Arena;
  before(async () => {
    arena = await openArena();
  });
  after(() => arena?.close());

  for (const attack of ATTACKS) it(`does not notice ${attack.name}`, () => arena.survive(attack));

  it('does not notice templates that come to 19 MB of control characters', () =>
    arena.withstand(async (attacker) => {
      const content = `{% for i in (1..19) %}{{ x }}{% endfor %}`;
      const template = await arena.service.saveTemplate(attacker, content);
      const data = { x: '\u0001'.repeat(1_000_000) };
      const jobId = await attacker.client.order({ templateId: template.templateId, data, options });
      await attacker.client.end(jobId);
    }));
});
