import assert from 'node:assert/strict';
import { pageTreeCount } from '../../src/pdf/count-pages.ts';
import { descendants } from '../support/processes.ts';
import { treeMemory } from '../support/tree-memory.ts';
import { type Arena, type Attack, openArena, rendered } from './support/arena.ts';
import { began, working } from './support/scripts.ts';

const options = { timeoutMs: 3000 };
/** Whether it is done in time depends on the machine. */
const SLOW = ['completed', 'RENDER_TIMEOUT', 'SELECTOR_TIMEOUT'];
const MIB = 1024 ** 2;

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
  ...[80, 300].map(
    (mib): Attack => ({
      name: `a request of ${mib} MiB to the document's own origin`,
      order: (villain) => ({
        html: working(villain, `await ${sendsText(mib * MIB)}.catch(() => 0)`),
        options: done,
      }),
      ends: SLOW,
    }),
  ),
  {
    name: 'a form of 80 MiB sent to where the document is',
    order: (villain) => ({
      html: `<form method=post action="/"><textarea name=t></textarea></form><script>if (!sessionStorage.sent) {
        ${began(villain)}; sessionStorage.sent = 1; document.forms[0].t.value = 'x'.repeat(${80 * MIB}); document.forms[0].submit() }</script>`,
      options: done,
    }),
    // Chromium itself may end the page that sends so much.
    ends: ['DOCUMENT_LIMIT', 'BROWSER_CRASHED', ...SLOW],
  },
  ...[80, 300].map(
    (mib): Attack => ({
      name: `requests of ${mib} MiB under asset headers`,
      order: (villain) => ({
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
    order: (villain) => ({
      html: working(villain, `for (let i = 0; i < 300_000; i++) console.log('x'.repeat(100), i)`),
      options: done,
    }),
    ends: SLOW,
  },
  {
    name: 'a flood of dialogs',
    order: (villain) => ({
      html: working(villain, `for (let i = 0; i < 10_000; i++) alert(i)`),
      options: done,
    }),
    ends: ['DOCUMENT_LIMIT'],
  },
  {
    name: 'a source URL with a flood of web-socket frames',
    order: (villain) => ({
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
  },
  {
    name: 'a source URL that reads a body of 200 MiB',
    order: (villain) => ({
      url: villain.page(
        working(villain, `await (await fetch('${villain.origin}/bytes?n=${200 * MIB}')).arrayBuffer()`),
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
    name: 'a source URL with a hundred frames of 15 MiB under a policy of the render',
    order: (villain) => ({
      url: villain.page(
        Array.from(
          { length: 100 },
          (_, i) => `<iframe src="${villain.origin}/bytes?n=${15 * MIB}&i=${i}"></iframe>`,
        ).join(''),
      ),
      options: { timeoutMs: 20_000, csp: "script-src 'none'" },
    }),
    ends: ['DOCUMENT_LIMIT'],
  },
];

/** Anybody can send them who has registered a minute ago. */
const OF_FREE_ACCOUNTS = /^a request of 300|^a flood|web-socket|policy of the render/;

describe('a neighbour of hostile documents', function () {
  // Three tries, and what each leaves behind.
  this.timeout(240_000);
  let arena: Arena;
  before(async () => {
    arena = await openArena();
  });
  after(() => arena?.close());
  const pid = () => arena.service.roles.get('standalone')!.pid;

  for (const attack of ATTACKS) it(`does not notice ${attack.name}`, () => arena.survive(attack));

  for (const attack of ATTACKS.filter(({ name }) => OF_FREE_ACCOUNTS.test(name)))
    it(`does not notice ${attack.name}, of a free account`, () => arena.survive({ ...attack, plan: 'free' }));

  it('does not notice a document that says of its language what a PDF says of its pages', () =>
    arena.withstand(async (attacker) => {
      const html = '<html lang="x /Pages 1 0 R"><p style="break-after:page">x<p>y';
      const { status, bytes } = await attacker.client.render({ html, options: { ...options, tagged: true } });
      assert.equal(status, 200);
      assert.match(Buffer.from(bytes).toString('latin1'), /\/Lang ?\(x \/Pages 1 0 R\)/);
      // Its pages are counted in microseconds: nobody parses it, neither beside /healthz nor in a process.
      assert.equal(pageTreeCount(bytes), 2);
      const { pid } = arena.service.roles.get('standalone')!;
      assert.deepEqual(
        descendants(pid).filter(({ command }) => command.includes('finish-main')),
        [],
      );
    }));

  it('does not notice templates that come to 19 MB of control characters', () =>
    arena.withstand(async (attacker) => {
      const content = `{% for i in (1..19) %}{{ x }}{% endfor %}`;
      const template = await arena.service.saveTemplate(attacker, content);
      const data = { x: '\u0001'.repeat(1_000_000) };
      const jobId = await attacker.client.order({ templateId: template.templateId, data, options });
      await attacker.client.end(jobId);
    }));

  it('waits for no longer than each of 14 accounts does whose documents go past a bound again and again', async () => {
    const took: number[] = [];
    const { renders } = await arena.undergo(async () => {
      const accounts = await Promise.all(
        Array.from({ length: 14 }, () => arena.service.newTenant('business')),
      );
      const order = {
        html: "<p>x</p><script>addEventListener('load', () => { for (let i = 0; i < 200; i++) alert(i) })</script>",
        options: { timeoutMs: 20_000 },
      };
      const before = treeMemory([pid()]);
      let most = 0;
      const timer = setInterval(() => {
        most = Math.max(most, treeMemory([pid()]));
      }, 300);
      await Promise.all(
        accounts.map(async (account) => {
          for (let i = 0; i < 4; i++) {
            const asked = performance.now();
            await rendered(account, order);
            took.push(performance.now() - asked);
          }
        }),
      ).finally(() => clearInterval(timer));
      assert.ok(most - before < 1024 * MIB, `they took ${Math.round((most - before) / MIB)} MiB`);
    });
    const [longest, theirs] = [Math.max(...renders), Math.max(...took)].map(Math.round);
    assert.ok(longest! < theirs!, `its longest took ${longest} ms, and theirs ${theirs} ms`);
  });
});

describe('a neighbour with asset headers', function () {
  this.timeout(300_000);
  let arena: Arena;
  before(async () => {
    arena = await openArena({}, { assetHeaders: { 'X-Asset': 'b' } });
  });
  after(() => arena?.close());

  it('does not notice three accounts that send 300 MiB each under asset headers', () =>
    arena.withstand(async () => {
      const accounts = await Promise.all([1, 2, 3].map(() => arena.service.newTenant('business')));
      const html = working(
        arena.villain,
        `await fetch('${arena.villain.origin}/', { method: 'POST', body: 'x'.repeat(${300 * MIB}) }).catch(() => 0)`,
      );
      const order = { html, options: { ...done, timeoutMs: 8000, assetHeaders: { 'X-Asset': 'a' } } };
      await Promise.all(
        accounts.map(async (account) => {
          for (let i = 0; i < 2; i++) await rendered(account, order);
        }),
      );
    }));
});
