import assert from 'node:assert/strict';
import { pageTreeCount } from '../../src/render/pdf/count-pages.ts';
import { treeMemory } from '../support/tree-memory.ts';
import { type Arena, rendered } from './support/arena.ts';
import type { Attack } from './support/attack.ts';
import { FOUND_ATTACKS } from './support/found-attacks.ts';
import { KNOWN_ATTACKS } from './support/known-attacks.ts';
import { renderOnce } from './support/neighbour.ts';
import { OPTION_ATTACKS } from './support/option-attacks.ts';
import { working } from './support/scripts.ts';
import { sharedArena } from './support/shared-arena.ts';

const MIB = 1024 ** 2;
const options = { timeoutMs: 4000 };
/** Concurrent attacks, each by accounts of its own. */
const AT_A_TIME = 5;
const ACCOUNTS = 14;
const EACH = 3;

/** Similar attacks are next to each other in the list, and so come into different groups. */
function groupsOf(attacks: readonly Attack[]): Attack[][] {
  const count = Math.ceil(attacks.length / AT_A_TIME);
  return Array.from({ length: count }, (_, group) => attacks.filter((_, i) => i % count === group));
}

describe('Renders during hostile documents', () => {
  let arena: Arena;
  before(async () => {
    arena = await sharedArena();
  });
  const pid = () => arena.service.roles.get('standalone')!.pid;

  for (const attacks of [...groupsOf([...KNOWN_ATTACKS, ...FOUND_ATTACKS]), ...groupsOf(OPTION_ATTACKS)])
    it(`complete during ${attacks.map(({ name }) => name).join('; ')}`, () => arena.survive(attacks));

  it('complete during a document whose language looks like the page count of a PDF', () =>
    arena.withstand(async (attacker) => {
      const html = '<html lang="x /Pages 1 0 R"><p style="break-after:page">x<p>y';
      const submission = { html, executionMode: 'sync', options: { tagged: true } };
      const { status, bytes } = await attacker.client.render(submission);
      assert.equal(status, 200);
      assert.match(Buffer.from(bytes).toString('latin1'), /\/Lang ?\(x \/Pages 1 0 R\)/);
      // Pages can be counted without parsing the PDF, so it is not sent to a sandbox process either.
      assert.equal(pageTreeCount(bytes), 2);
    }));

  it('complete during templates that produce 19 MB of control characters', () =>
    arena.withstand(async (attacker) => {
      const content = `{% for i in (1..19) %}{{ x }}{% endfor %}`;
      const template = await arena.service.saveTemplate(attacker, content);
      const data = { x: '\u0001'.repeat(1_000_000) };
      const jobId = await attacker.client.submit({ templateId: template.templateId, data, options });
      await attacker.client.end(jobId);
    }));

  it('complete between those of 14 accounts whose documents keep exceeding a bound', () =>
    arena.withstand(
      async () => {
        const accounts = await Promise.all(
          Array.from({ length: ACCOUNTS }, () => arena.service.newTenant('business')),
        );
        const submission = {
          html: "<p>x</p><script>addEventListener('load', () => { for (let i = 0; i < 200; i++) alert(i) })</script>",
          options: { timeoutMs: 30_000 },
        };
        const before = treeMemory([pid()]);
        let [ended, most] = [0, 0];
        const attacks = accounts.map(async (account) => {
          for (let i = 0; i < EACH; i++) {
            await rendered(account, submission);
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
        // In a fair order each attacker is served at most once before the neighbour, and once more beside it.
        assert.ok(longest <= 2 * ACCOUNTS, `${longest} of theirs ended during one render of its own`);
        assert.ok(most < 1024 * MIB, `they took ${Math.round(most / MIB)} MiB`);
      },
      { accounts: ACCOUNTS },
    ));

  it('complete with asset headers while three accounts transfer 300 MiB each with theirs', () =>
    arena.withstand(
      async () => {
        const villain = arena.newVillain();
        const submission = {
          html: working(
            villain,
            `await fetch('${villain.origin}/', { method: 'POST', body: 'x'.repeat(${300 * MIB}) }).catch(() => 0)`,
          ),
          options: { timeoutMs: 8000, waitForSelector: '.done', assetHeaders: { 'X-Asset': 'a' } },
        };
        const accounts = await Promise.all([1, 2, 3].map(() => arena.service.newTenant('business')));
        await Promise.all(accounts.map((account) => rendered(account, submission)));
      },
      { accounts: 3, options: { assetHeaders: { 'X-Asset': 'b' } } },
    ));
});
