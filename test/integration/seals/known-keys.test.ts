import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PDFDocument } from '@cantoo/pdf-lib';
import { listAssignedKeys } from '../../../src/render/seal/assigned-keys.ts';
import { SealKeys } from '../../../src/work/pools/seal-keys.ts';
import { AccountClient } from '../../support/account-client.ts';
import { eventually } from '../../support/eventually.ts';
import { type TestCaller, useApi } from '../http/support/api.ts';

const HTML = '<p>x';
const seal = (keyId: string) => ({ seal: { key: { keyId } } });

describe('Keys that seal, as workers list them', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'platen-key-list-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));
  const put = (file: string, content: string) => writeFile(join(folder, file), content);

  it('are those with a list of accounts, whose other files are not needed', async () => {
    await put('b.accounts', 'account-b,account-c\n\naccount-d\n');
    await put('a.accounts', '*');
    await put('b.p12', 'secret');
    await put('c.p12', 'without accounts');
    await put('..accounts', '*');
    assert.deepEqual(await listAssignedKeys(folder), [
      { name: 'a', accounts: ['*'] },
      { name: 'b', accounts: ['account-b', 'account-c', 'account-d'] },
    ]);
  });

  it('are none without a folder, and are not told where they are too many or cannot be read', async () => {
    assert.deepEqual(await listAssignedKeys(undefined), []);
    assert.equal(await listAssignedKeys(join(folder, 'missing')), undefined);
    await put('a.accounts', 'x'.repeat(16 * 1024));
    assert.equal((await listAssignedKeys(folder))?.length, 1);
    await put('b.accounts', 'x');
    assert.equal(await listAssignedKeys(folder), undefined);
    await put('a.accounts', '*');
    for (let i = 0; i < 98; i += 1) await put(`n${i}.accounts`, '*');
    assert.equal((await listAssignedKeys(folder))?.length, 100);
    await put('one-more.accounts', '*');
    assert.equal(await listAssignedKeys(folder), undefined);
  });
});

describe('Keys that seal, as a process of the API knows them', () => {
  it('are read again before one is refused, and once for all that ask at a time', async () => {
    let reads = 0;
    let names: string[] = [];
    let now = 0;
    const known = new SealKeys(
      async () => {
        reads += 1;
        return names.map((name) => ({ name, accounts: ['a'] }));
      },
      () => now,
    );
    const may = (keyId: string, accountId = 'a') => known.mayHave(keyId, { accountId, pool: 'default' });
    names = ['one'];
    assert.deepEqual(await Promise.all([may('one'), may('one'), may('one', 'b'), may('two')]), [
      ...[true, true, false, false],
    ]);
    assert.equal(reads, 1);
    names = ['two'];
    now = 500;
    assert.deepEqual([await may('two'), reads], [false, 1], 'twice a second at most');
    now = 501;
    assert.deepEqual([await may('two'), reads], [true, 2]);
    names = [];
    now += 3000;
    assert.deepEqual([await may('two'), reads], [true, 2], 'a withdrawn key is found by the render');
    now += 1;
    assert.deepEqual([await may('two'), reads], [false, 3]);
  });

  it('are asked for anew where that has failed', async () => {
    let fails = true;
    const known = new SealKeys(async () => {
      if (fails) throw new Error('away');
      return [];
    });
    const may = () => known.mayHave('one', { accountId: 'a', pool: 'default' });
    await assert.rejects(may(), /away/);
    fails = false;
    assert.equal(await may(), false);
  });
});

describe('A key that the account does not have', () => {
  const api = useApi();

  /** A worker of the account's pool has these keys from now on. */
  async function report(sealKeys: { name: string; accounts: string[] }[] | null): Promise<void> {
    await api.domain.registry.report({
      ...{ _id: 'worker', pool: 'default', pod: null, namespace: null, node: null, slots: 1, busy: 0 },
      ...{ state: 'claiming', startedAt: new Date(), sandbox: 'on', browser: null, sealKeys },
    });
  }

  const asked = (options: object = seal('invoices')) => ({ html: HTML, options });
  const REFUSAL = /^the account has no key "invoices": its operator assigns keys/;

  it('is refused by every route that takes options, by the name of its field', async () => {
    const caller = await api.newCaller();
    const owner = new AccountClient(api.url, (await api.tenants.tokens.issue(caller.accountId)).token);
    await report([{ name: 'invoices', accounts: ['another'] }]);
    const { id: templateId } = await owner.expect(201, 'POST', '/user/templates', {
      ...{ name: 'sealed', content: HTML, options: seal('invoices') },
    });
    const pdf = Buffer.from(await (await PDFDocument.create()).save()).toString('base64');
    const items = [
      { id: 'a', html: HTML },
      { id: 'b', ...asked() },
      { id: 'c', templateId },
    ];
    const requests: [by: TestCaller | AccountClient, path: string, body: object, fields?: string[]][] = [
      [caller, '/v1/pdf', asked()],
      [caller, '/v1/pdf', { templateId }],
      [caller, '/v1/pdf/convert', { pdf, options: seal('invoices') }],
      [caller, '/v1/pdf/batch', { items }, ['items[1] ("b").options', 'items[2] ("c").options']],
      [owner, '/user/renders', { ...asked(), mode: 'live' }],
      [
        owner,
        '/user/batches',
        { items: items.slice(1), mode: 'live' },
        ['items[0] ("b").options', 'items[1] ("c").options'],
      ],
      [owner, '/user/templates/preview', { content: HTML, output: 'pdf', options: seal('invoices') }],
    ];
    for (const [by, path, body, fields = ['options']] of requests) {
      const { status, json } = await by.call('POST', path, body);
      assert.deepEqual([status, json.code], [400, 'VALIDATION'], `${path} ${JSON.stringify(json)}`);
      const errors: string[] = json.message;
      assert.deepEqual(
        errors.map((error) => error.slice(0, error.indexOf(': '))),
        fields.map((field) => `${field}.seal.key.keyId`),
        path,
      );
      for (const error of errors) assert.match(error.slice(error.indexOf(': ') + 2), REFUSAL);
    }
    const { inFlight, waiting } = await api.deps.renders.queue(caller.accountId);
    assert.deepEqual([inFlight, waiting], [0, 0], 'nothing was admitted');
  });

  it('is found by the render where no worker tells, and taken once one has it', async () => {
    const caller = await api.newCaller();
    const submit = async (keyId: string) => {
      const { status } = await caller.render({ ...asked(seal(keyId)), executionMode: 'async' });
      return status;
    };
    const becomes = (status: number, keyId: string) =>
      eventually(`${keyId}: ${status}`, async () => (await submit(keyId)) === status);
    await report(null);
    await becomes(202, 'invoices');
    await report([]);
    await becomes(400, 'invoices');
    await report([{ name: 'invoices', accounts: [caller.accountId] }]);
    await becomes(202, 'invoices');
    assert.equal(await submit('unknown'), 400);
    await api.domain.registry.remove('worker');
    await becomes(202, 'unknown');
  });
});
