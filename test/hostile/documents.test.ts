import assert from 'node:assert/strict';
import { pageTreeCount } from '../../src/pdf/count-pages.ts';
import { treeMemory } from '../support/tree-memory.ts';
import { type Arena, rendered } from './support/arena.ts';
import type { Attack } from './support/attack.ts';
import { FOUND_ATTACKS } from './support/found-attacks.ts';
import { KNOWN_ATTACKS } from './support/known-attacks.ts';
import { renderOnce } from './support/neighbour.ts';
import { working } from './support/scripts.ts';
import { sharedArena } from './support/shared-arena.ts';

const MIB = 1024 ** 2;
const options = { timeoutMs: 4000 };
/** Attacks that are made at the same time, each by accounts of its own. */
const AT_A_TIME = 5;
const ACCOUNTS = 14;
const EACH = 2;

/** Those that are alike stand side by side, and are dealt to different groups. */
function groupsOf(attacks: readonly Attack[]): Attack[][] {
  const count = Math.ceil(attacks.length / AT_A_TIME);
  return Array.from({ length: count }, (_, group) => attacks.filter((_, i) => i % count === group));
}

describe('a neighbour of hostile documents', function () {
  this.timeout(300_000);
  let arena: Arena;
  before(async () => {
    arena = await sharedArena();
  });
  const pid = () => arena.service.roles.get('standalone')!.pid;

  for (const attacks of groupsOf([...KNOWN_ATTACKS, ...FOUND_ATTACKS]))
    it(`has its renders beside ${attacks.map(({ name }) => name).join('; ')}`, () => arena.survive(attacks));

  it('has them beside a document that says of its language what a PDF says of its pages', () =>
    arena.withstand(async (attacker) => {
      const html = '<html lang="x /Pages 1 0 R"><p style="break-after:page">x<p>y';
      const order = { html, executionMode: 'sync', options: { tagged: true } };
      const { status, bytes } = await attacker.client.render(order);
      assert.equal(status, 200);
      assert.match(Buffer.from(bytes).toString('latin1'), /\/Lang ?\(x \/Pages 1 0 R\)/);
      // What counts pages without parsing the PDF can do so: it is not handed to a process either.
      assert.equal(pageTreeCount(bytes), 2);
    }));

  it('has them beside templates that come to 19 MB of control characters', () =>
    arena.withstand(async (attacker) => {
      const content = `{% for i in (1..19) %}{{ x }}{% endfor %}`;
      const template = await arena.service.saveTemplate(attacker, content);
      const data = { x: '\u0001'.repeat(1_000_000) };
      const jobId = await attacker.client.order({ templateId: template.templateId, data, options });
      await attacker.client.end(jobId);
    }));

  it('has its turn between 14 accounts whose documents go past a bound again and again', () =>
    arena.withstand(
      async () => {
        const accounts = await Promise.all(
          Array.from({ length: ACCOUNTS }, () => arena.service.newTenant('business')),
        );
        const order = {
          html: "<p>x</p><script>addEventListener('load', () => { for (let i = 0; i < 200; i++) alert(i) })</script>",
          options: { timeoutMs: 30_000 },
        };
        const before = treeMemory([pid()]);
        let [ended, most] = [0, 0];
        const attacks = accounts.map(async (account) => {
          for (let i = 0; i < EACH; i++) {
            await rendered(account, order);
            ended += 1;
          }
        });
        const timer = setInterval(() => {
          most = Math.max(most, treeMemory([pid()]) - before);
        }, 500);
        let longest = 0;
        while (ended < ACCOUNTS) {
          const already = ended;
          await renderOnce(arena.neighbour.client);
          longest = Math.max(longest, ended - already);
        }
        await Promise.all(attacks).finally(() => clearInterval(timer));
        assert.ok(longest < (ACCOUNTS * EACH) / 2, `${longest} of theirs ended during one render of its own`);
        assert.ok(most < 1024 * MIB, `they took ${Math.round(most / MIB)} MiB`);
      },
      { accounts: ACCOUNTS },
    ));

  it('has them under asset headers, beside three accounts that send 300 MiB each under theirs', () =>
    arena.withstand(
      async () => {
        const villain = arena.newVillain();
        const order = {
          html: working(
            villain,
            `await fetch('${villain.origin}/', { method: 'POST', body: 'x'.repeat(${300 * MIB}) }).catch(() => 0)`,
          ),
          options: { timeoutMs: 8000, waitForSelector: '.done', assetHeaders: { 'X-Asset': 'a' } },
        };
        const accounts = await Promise.all([1, 2, 3].map(() => arena.service.newTenant('business')));
        await Promise.all(accounts.map((account) => rendered(account, order)));
      },
      { accounts: 3, options: { assetHeaders: { 'X-Asset': 'b' } } },
    ));
});
