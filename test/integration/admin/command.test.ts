import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { runCommand } from '../../support/command.ts';
import { eventually } from '../../support/eventually.ts';
import { openApi, type TestApi } from '../http/support/api.ts';
import { MARKER, serveAdmin, type TestAdmin, TOKENS } from './support/admin.ts';

describe('platen admin', () => {
  let api: TestApi;
  let admin: TestAdmin;
  let environment: Record<string, string>;
  before(async () => {
    api = await openApi();
    admin = await serveAdmin(api);
    environment = { PLATEN_ADMIN_URL: admin.url, PLATEN_ADMIN_TOKEN: TOKENS };
  });
  after(async () => {
    await admin.close();
    await api.close();
  });

  /** Runs a command, none of which may print what accounts have sent. */
  const platen = async (...args: string[]) => {
    const result = await runCommand(['admin', ...args], { environment });
    assert.ok(!(result.stdout + result.stderr).includes(MARKER));
    return result;
  };
  const json = async (...args: string[]) => {
    const { code, stdout, stderr } = await platen(...args, '--json');
    assert.equal(code, 0, stderr);
    return JSON.parse(stdout);
  };

  it('lists accounts as a table and as JSON, and suspends and resumes one by its address', async () => {
    const email = `${randomUUID()}@example.com`;
    const account = await api.accounts.create(email, null, 'starter');
    const listed = await platen('accounts', '--search', email);
    assert.match(listed.stdout, /^ID +EMAIL +PLAN +CREATED +SUSPENDED/);
    assert.ok(listed.stdout.includes(email));
    const { rows } = await json('accounts', '--plan', 'starter');
    assert.deepEqual(
      rows.map(({ id }: { id: string }) => id),
      [account!._id],
    );
    assert.equal((await platen('accounts', 'suspend', email)).code, 1);
    const suspended = await json('accounts', 'suspend', email, '--reason', 'abuse');
    assert.ok(suspended.suspendedAt !== null);
    const resumed = await platen('accounts', 'resume', account!._id);
    assert.match(resumed.stdout, /^suspendedAt +-$/m);
    const audit = await json('audit');
    assert.deepEqual(
      audit.rows.slice(0, 2).map(({ action, operator }: Record<string, string>) => [action, operator]),
      [
        ['account.resumed', 'anna'],
        ['account.suspended', 'anna'],
      ],
    );
  });

  it('deletes an account when its address is typed, or with --yes', async () => {
    const emails = [`${randomUUID()}@example.com`, `${randomUUID()}@example.com`];
    const [asked, told] = await Promise.all(
      emails.map(async (email) => (await api.accounts.create(email, null, 'free'))!),
    );
    const typed = (stdin: string) =>
      runCommand(['admin', 'accounts', 'delete', asked!.email!], { environment, stdin });
    for (const stdin of ['', 'yes\n', `${emails[1]}\n`]) {
      const { code, stderr } = await typed(stdin);
      assert.equal(code, 1);
      assert.match(stderr, /Nothing is deleted/);
    }
    assert.equal((await api.accounts.findNow(asked!._id))?.deletingSince, undefined);
    const deleted = await typed(`${emails[0]}\n`);
    assert.equal(deleted.code, 0, deleted.stderr);
    assert.match(deleted.stdout, /^deletingSince +2/m);
    assert.ok((await json('accounts', 'delete', told!._id, '--yes')).deletingSince !== null);
    const table = await platen('accounts', '--search', emails[0]!);
    assert.match(table.stdout, /DELETING/);
    const resumed = await platen('accounts', 'resume', asked!._id);
    assert.equal(resumed.code, 1);
    assert.match(resumed.stderr, /being deleted/);
  });

  it('renders again all that fit, and says how many', async () => {
    const { accountId } = await admin.failedJobs(3);
    const listed = await json('jobs', '--account', accountId, '--limit', '2');
    assert.equal(listed.rows.length, 2);
    const rest = await json('jobs', '--account', accountId, '--cursor', listed.cursor);
    assert.deepEqual([rest.rows.length, rest.cursor], [1, null]);
    const table = await platen('jobs', '--code', 'URL_UNREACHABLE', '--limit', '1');
    assert.match(table.stdout, /URL_UNREACHABLE/);
    assert.match(table.stdout, /There are more: --cursor \S+$/m);
    const retried = await platen('jobs', 'retry', '--all', '--account', accountId);
    assert.deepEqual([retried.code, retried.stdout], [0, '3 jobs are rendered again.\n']);
    await eventually('they have completed', async () => {
      const { rows } = await json('jobs', '--state', 'completed', '--account', accountId);
      return rows.length === 3;
    });
    await json('accounts', 'suspend', accountId, '--reason', 'x');
    const left = await platen('jobs', 'retry', '--all', '--account', accountId);
    assert.deepEqual(
      [left.code, left.stdout],
      [2, '0 jobs are rendered again; left alone: 3 ACCOUNT_SUSPENDED.\n'],
    );
    const job = await platen('jobs', 'show', listed.rows[0].id);
    assert.match(job.stdout, /^errorCode +URL_UNREACHABLE$/m);
    assert.equal((await platen('jobs', 'retry')).code, 1);
  });

  it('shows what waits, workers, callbacks, mails and billing', async () => {
    assert.match((await platen('queue')).stdout, /^POOL +WAITING +DISPATCHED/);
    assert.match((await platen('workers')).stdout, /^ID +POOL +POD +STATE/);
    for (const what of [['deliveries'], ['mails'], ['billing', 'purchases'], ['billing', 'subscriptions']]) {
      assert.match((await platen(...what)).stdout, /^ID /);
      assert.deepEqual(await json(...what), { rows: [], cursor: null });
    }
    const unknown = await platen('workers', 'drain', 'nobody');
    assert.equal(unknown.code, 1);
    assert.match(unknown.stderr, /NOT_FOUND/);
  });

  it('says what is wrong with its address and its token', async () => {
    const failed = async (changed: Record<string, string>) => {
      const result = await runCommand(['admin', 'queue'], { environment: { ...environment, ...changed } });
      assert.equal(result.code, 1);
      assert.equal(result.stdout, '');
      return result.stderr;
    };
    assert.match(await failed({ PLATEN_ADMIN_TOKEN: '' }), /PLATEN_ADMIN_TOKEN must be a token/);
    assert.match(await failed({ PLATEN_ADMIN_TOKEN: 'short' }), /32 characters or more/);
    assert.match(await failed({ PLATEN_ADMIN_TOKEN: 'x'.repeat(32) }), /UNAUTHENTICATED/);
    assert.match(await failed({ PLATEN_ADMIN_URL: 'nowhere' }), /PLATEN_ADMIN_URL must be/);
    assert.match(await failed({ PLATEN_ADMIN_URL: 'http://127.0.0.1:1' }), /does not respond/);
    assert.match(await failed({ PLATEN_ADMIN_URL: api.url }), /has no administration/);
    const usage = await platen('nothing');
    assert.equal(usage.code, 1);
    assert.match(usage.stderr, /usage: platen admin <command>/);
  });
});
