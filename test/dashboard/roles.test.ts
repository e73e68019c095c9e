import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { HTTPResponse } from 'puppeteer';
import { newEmail, signUp } from '../support/account-client.ts';
import { eventually } from '../support/eventually.ts';
import { sharedStandaloneService, type TestService } from '../support/service.ts';
import { type SeededAccount, seedAccount } from './support/seeded-account.ts';
import { type View, Visitor } from './support/visitor.ts';

const ROLES = ['viewer', 'billing', 'developer', 'owner'] as const;
type Role = (typeof ROLES)[number];
const VIEWS: readonly View[] = [
  { width: 1280, scheme: 'light' },
  { width: 390, scheme: 'dark' },
];
/** What ends the session or the membership of whoever tries the others. */
const LEFT_ALONE = /^(Sign out|Leave|Remove|Make .* owner|Transfer)/;
/** What a person may do where the rest is refused: at least one of these is tried in the role, and none in the others. */
const MARKS: Readonly<Record<string, readonly Role[]>> = {
  'New key': ['developer', 'owner'],
  'New template': ['developer', 'owner'],
  Share: ['developer', 'owner'],
  'Replay failed': ['developer', 'owner'],
  'Send test': ['developer', 'owner'],
  'New signing key': ['developer', 'owner'],
  'Preview Ctrl Enter': ['developer', 'owner'],
  'Render Ctrl Enter': ['developer', 'owner'],
  'Retry failed': ['developer', 'owner'],
  'Invite someone': ['owner'],
  'Turn off': ['owner'],
};

describe('The dashboard in each role', () => {
  let service: TestService;

  before(async () => {
    service = await sharedStandaloneService();
  });

  for (const role of ROLES)
    it(`offers a ${role} nothing that the service refuses to that role`, async () => {
      const seeded = await seedAccount(service);
      const visitor = await Visitor.open(service.url);
      try {
        await visitor.signIn(role === 'owner' ? await confirmed(seeded) : await memberOf(seeded, role));
        const walk = new Walk(visitor);
        for (const path of pathsOf(seeded)) await walk.tryAll(path);
        assert.deepEqual(walk.refusals, []);
        for (const [name, roles] of Object.entries(MARKS))
          assert.equal(walk.tried.has(name), roles.includes(role), `${name} as ${role}`);
        // A refusal would have been noticed.
        if (role === 'viewer' || role === 'billing') {
          await walk.unlimited(() =>
            visitor.page.evaluate(async () => {
              // As the pages do: of a body that is not read, nothing is known here.
              await (await fetch('/user/webhook-keys/rotate', { method: 'POST' })).text();
            }),
          );
          await eventually('it is seen', () => walk.refusals.length === 1);
        }
      } finally {
        await visitor.close();
      }
    });

  it('says why a page that was opened by its address is not for a role', async () => {
    const seeded = await seedAccount(service);
    const visitor = await Visitor.open(service.url);
    await visitor.signIn(await memberOf(seeded, 'viewer'));
    for (const path of ['/billing', '/playground', '/batches/new', '/audit']) {
      await visitor.go(path);
      await visitor.sees('Your role is Viewer');
      await visitor.assertClear(...VIEWS);
    }
    await visitor.go(`/templates/${seeded.templateId}`);
    await visitor.sees('Your role sees templates');
    await visitor.page.waitForSelector('code-editor');
    await visitor.assertClear(...VIEWS);
    await visitor.page.click('code-editor');
    await visitor.page.keyboard.type('not to be typed');
    await visitor.control('Enter');
    assert.ok(
      !(await visitor.page.$eval('code-editor', (each) => (each as HTMLInputElement).value)).includes(
        'typed',
      ),
    );
    await visitor.close();
  });

  function pathsOf({ completedId, failedId, templateId, batchId }: SeededAccount): string[] {
    return [
      ...['/', '/playground', '/renders', `/renders/${completedId}`, `/renders/${failedId}`],
      ...['/batches', '/batches/new', `/batches/${batchId}`, '/templates', `/templates/${templateId}`],
      ...['/webhooks', '/keys', '/logs', '/members', '/audit', '/billing', '/settings'],
    ];
  }

  /** Only the owner of a confirmed address invites others. */
  async function confirmed({ accountId, email }: SeededAccount): Promise<string> {
    await service.tenants.connection
      .collection<{ _id: string }>('accounts')
      .updateOne({ _id: accountId }, { $set: { emailVerifiedAt: new Date() } });
    return email;
  }

  /** Somebody who acts for the account of another, in a role. */
  async function memberOf({ accountId }: SeededAccount, role: Exclude<Role, 'owner'>): Promise<string> {
    const email = newEmail();
    const client = await signUp(service.url, email);
    const { id: personId } = await client.expect(200, 'GET', '/auth/me');
    const accounts = service.tenants.connection.collection<{ _id: string }>('accounts');
    const fences = { ownerFence: undefined, personFence: undefined };
    await service.tenants.memberships.put({ accountId, personId, role, ...fences });
    // As whoever has acted for that account last.
    const set = { emailVerifiedAt: new Date(), actsFor: accountId };
    await accounts.updateOne({ _id: personId }, { $set: set });
    return email;
  }
});

/** Presses every button of a page, and those of the dialogs that they open. */
class Walk {
  readonly #visitor: Visitor;
  /** The names of what was pressed. */
  readonly tried = new Set<string>();
  /** What the service has refused to the role, one line each. */
  readonly refusals: string[] = [];
  #path = '';
  /** How long the rate of the plan is used up, in milliseconds: what was asked for meanwhile says nothing of roles. */
  #limitedMs = 0;

  constructor(visitor: Visitor) {
    this.#visitor = visitor;
    visitor.page.on('response', (response) => void this.#note(response));
  }

  async #note(response: HTTPResponse): Promise<void> {
    if (response.status() === 429)
      this.#limitedMs = Number(response.headers()['retry-after'] ?? 1) * 1000 + 500;
    if (response.status() !== 403) return;
    const { code } = await response.json().catch(() => ({ code: 'ROLE_NOT_ALLOWED' }));
    if (code === 'ROLE_NOT_ALLOWED')
      this.refusals.push(`${this.#path}: ${response.request().method()} ${new URL(response.url()).pathname}`);
  }

  /** Does something until the rate of the plan has allowed all of it. */
  async unlimited(act: () => Promise<void>): Promise<void> {
    for (;;) {
      this.#limitedMs = 0;
      await act();
      if (this.#limitedMs === 0) return;
      await sleep(this.#limitedMs);
    }
  }

  async tryAll(path: string): Promise<void> {
    this.#path = path;
    await this.unlimited(() => this.#visitor.go(path));
    for (const name of await this.#names('main')) {
      if (LEFT_ALONE.test(name)) continue;
      await this.unlimited(async () => {
        // What one button did may have taken another away.
        if (this.tried.size > 0) await this.#visitor.go(path);
        if (!(await this.#press('main', name))) return;
        for (const inside of await this.#names('dialog[open]'))
          if (!LEFT_ALONE.test(inside) && inside !== 'Close') await this.#press('dialog[open]', inside);
      });
    }
  }

  /** The names of the buttons that are to be seen and can be pressed. */
  #names(within: string): Promise<string[]> {
    return this.#visitor.page.$$eval(`${within} button, ${within} a.button`, (buttons) => [
      ...new Set(
        buttons
          .filter((each) => each.checkVisibility() && !(each as HTMLButtonElement).disabled)
          .map((each) => each.textContent.trim()),
      ),
    ]);
  }

  /** Fills in what has to be, and presses a button. @returns whether it was there. */
  async #press(within: string, name: string): Promise<boolean> {
    const pressed = await this.#visitor.page.evaluate(
      (within, name) => {
        const found = [
          ...document.querySelectorAll<HTMLElement>(`${within} button, ${within} a.button`),
        ].find((each) => each.textContent.trim() === name);
        // Downloads leave the page as it is, and links are pages of the walk.
        if (found === undefined) return false;
        const setter = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value')!.set!;
        for (const field of document.querySelectorAll<HTMLInputElement>(`${within} input[required]`)) {
          const value = { email: 'a@example.com', url: 'https://example.com/' }[field.type] ?? 'x';
          setter.call(field, value);
          field.dispatchEvent(new Event('input', { bubbles: true }));
        }
        if (found.tagName === 'BUTTON') found.click();
        return true;
      },
      within,
      name,
    );
    if (pressed) this.tried.add(name);
    // All but the stream of hints.
    await this.#visitor.page
      .waitForNetworkIdle({ concurrency: 1, idleTime: 150, timeout: 5000 })
      .catch(() => undefined);
    return pressed;
  }
}
