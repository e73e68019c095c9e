import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCommand } from '../support/command.ts';
import { readPdf } from '../support/pdf.ts';
import { freePort } from '../support/ports.ts';
import { openStandaloneService, type Tenant, type TestService } from '../support/service.ts';
import { unzipFile } from '../support/unzip.ts';

describe('documents from the command line', () => {
  let service: TestService;
  let tenant: Tenant;
  let templateId: string;
  let folder: string;

  before(async () => {
    service = await openStandaloneService();
    tenant = await service.newTenant('business');
    templateId = (await service.saveTemplate(tenant, '<p>Dear {{ customer.name }} of {{ city }}</p>'))
      .templateId;
  });
  after(() => service?.stop());
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'platen-cli-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const platen = (args: readonly string[], environment: NodeJS.ProcessEnv = {}) =>
    runCommand(args, {
      environment: { PLATEN_URL: service.url, PLATEN_API_KEY: tenant.client.key, ...environment },
    });
  const path = (name: string) => join(folder, name);
  const write = async (name: string, text: string) => {
    await writeFile(path(name), text);
    return path(name);
  };
  const textOf = async (name: string) => (await readPdf(await readFile(path(name)))).text;
  const entries = async (name: string) => (await readdir(path(name))).sort();

  describe('platen render', () => {
    it('renders files into a folder, and logs its progress without a terminal', async () => {
      const files = await Promise.all(
        ['one', 'two', 'three', 'four', 'five'].map((name) => write(`${name}.html`, `<p>The ${name}.</p>`)),
      );
      const { code, stdout, stderr } = await platen(['render', ...files, '--out', path('pdfs')]);
      assert.equal(code, 0, stderr);
      assert.deepEqual(await entries('pdfs'), ['five.pdf', 'four.pdf', 'one.pdf', 'three.pdf', 'two.pdf']);
      for (const name of ['one', 'five'])
        assert.match(await textOf(`pdfs/${name}.pdf`), new RegExp(`The ${name}\\.`));
      assert.match(stdout, /^5 of 5 PDFs are in /);
      assert.deepEqual(stderr.trim().split('\n').at(-1), '5 of 5');
      assert.ok(
        !stderr.includes('\r') && !stderr.includes('\x1b'),
        'nothing that only a terminal understands',
      );
    });

    it('takes every option of a render, and reports an invalid one', async () => {
      const file = await write('paged.html', '<p style="break-after: page">one<p id=p>two');
      const options = {
        width: '100mm',
        height: '50mm',
        pageRanges: '2',
        scripts: ['p.textContent += " " + new Date(0).getHours()'],
        timezone: 'Asia/Tokyo',
      };
      const render = (given: object) =>
        platen(['render', file, '--out', path('options'), '--options', JSON.stringify(given)]);
      assert.equal((await render(options)).code, 0);
      const { pages } = await readPdf(await readFile(path('options/paged.pdf')));
      assert.deepEqual(
        pages.map(({ text, width }) => [text, Math.round(width / 10)]),
        [['two 9', 28]],
      );
      const { code, stderr } = await render({ ...options, format: 'A4' });
      assert.equal(code, 1);
      assert.match(stderr, /options\.width: must not be given with format/);
    });

    it('names what could not be rendered, and renders the rest', async () => {
      const good = await write('good.html', '<p>good</p>');
      const other = await write('other.html', '<p>other</p>');
      const missing = path('missing.html');
      const { code, stderr } = await platen(['render', good, missing, other, '--out', path('pdfs')]);
      assert.equal(code, 2, stderr);
      assert.match(stderr, /missing\.html: ENOENT/);
      assert.deepEqual(await entries('pdfs'), ['good.pdf', 'other.pdf']);
      const options = '{"waitForSelector": "#never", "timeoutMs": 3000}';
      const none = await platen(['render', good, '--out', path('none'), '--options', options]);
      assert.equal(none.code, 1);
      assert.match(none.stderr, /good\.html: SELECTOR_TIMEOUT/);
    });

    it('rejects a batch that it cannot begin', async () => {
      const file = await write('a.html', 'x');
      const cases: [string[], NodeJS.ProcessEnv, RegExp][] = [
        [[], {}, /usage: platen render/],
        [[file], {}, /--out says/],
        [[file, '--out', folder, '--options', '[1]'], {}, /--options must be a JSON object/],
        [[file, file, '--out', folder], {}, /would both become a\.pdf/],
        [[file, '--out', folder], { PLATEN_URL: '' }, /PLATEN_URL must be/],
        [[file, '--out', folder], { PLATEN_API_KEY: '' }, /PLATEN_API_KEY must be/],
        [[file, '--out', folder], { PLATEN_API_KEY: `sk_live_${'x'.repeat(43)}` }, /UNAUTHENTICATED/],
      ];
      for (const [args, environment, expected] of cases) {
        const { code, stderr } = await platen(['render', ...args], environment);
        assert.equal(code, 1, stderr);
        assert.match(stderr, expected);
      }
    });
  });

  describe('platen batch', () => {
    it('has the service read the file with --source, and names the rows that have failed', async () => {
      const file = await write(
        'people.csv',
        'id,customer.name,city\na,Ada,London\nb,Grace\nc,Barbara,Boston\n',
      );
      const batch = ['batch', file, '--source', '--template', templateId, '--out'];
      const { code, stdout, stderr } = await platen([...batch, path('people')]);
      assert.equal(code, 2, stderr);
      assert.match(stdout, /^2 of 3 PDFs are in /);
      assert.match(stderr, /people\.csv: "row-2": VALIDATION: Row 2: its number of fields is 2/);
      assert.deepEqual(await entries('people'), ['a.pdf', 'c.pdf']);
      assert.match(await textOf('people/c.pdf'), /Dear Barbara of Boston/);
      const none = await platen([...batch, path('none'), '--id-column', 'number']);
      assert.equal(none.code, 1);
      assert.match(none.stderr, /SOURCE_UNREADABLE: The first row names no column "number"/);
    });

    it('renders each row of a CSV file with a template', async () => {
      const rows = [
        'id,customer.name,city',
        'a/1,"Lovelace, Ada",London',
        'b,Grace,"New\nYork"',
        '',
        'c,Emmy,Erlangen',
      ];
      const file = await write('people.csv', `\uFEFF${rows.join('\r\n')}\r\n`);
      const args = ['batch', file, '--template', templateId, '--out', path('pdfs')];
      const { code, stdout, stderr } = await platen(args);
      assert.equal(code, 0, stderr);
      assert.deepEqual(await entries('pdfs'), ['a%2F1.pdf', 'b.pdf', 'c.pdf']);
      assert.match(await textOf('pdfs/a%2F1.pdf'), /Dear Lovelace, Ada of London/);
      assert.match(await textOf('pdfs/c.pdf'), /Dear Emmy of Erlangen/);
      assert.match(stdout, /^3 of 3 PDFs are in /);
      assert.match(stderr, /The batch is [0-9a-f-]{36}/);
      assert.match(stderr, /^3 of 3$/m);
    });

    it('renders lines of NDJSON: data, and whole items; what failed is named by its line', async () => {
      const lines = [
        { customer: { name: 'Ada' }, city: 'London', id: 7 },
        { id: 'page', html: '<p>A whole item</p>', options: { format: 'A5' } },
        { id: 'bad', html: '<p>x</p>', options: { waitForSelector: '#never', timeoutMs: 3000 } },
        { id: 'given', data: { customer: { name: 'Grace' }, city: 'Arlington' } },
      ];
      const file = await write('mixed.ndjson', lines.map((line) => JSON.stringify(line)).join('\n'));
      const args = ['batch', file, '--template', templateId, '--out', path('pdfs')];
      const { code, stdout, stderr } = await platen(args);
      assert.equal(code, 2, stderr);
      assert.deepEqual(await entries('pdfs'), ['7.pdf', 'given.pdf', 'page.pdf']);
      assert.match(await textOf('pdfs/7.pdf'), /Dear Ada of London/);
      assert.match(await textOf('pdfs/page.pdf'), /A whole item/);
      assert.match(await textOf('pdfs/given.pdf'), /Dear Grace of Arlington/);
      assert.match(stderr, /mixed\.ndjson:3: "bad": SELECTOR_TIMEOUT: /);
      assert.match(stdout, /^3 of 4 PDFs are in /);
    });

    it('saves all of them in one zip', async () => {
      const rows = Array.from({ length: 30 }, (_, i) => `invoice-${i},Customer ${i},Rome`);
      const file = await write('many.csv', ['filename,customer.name,city', ...rows].join('\n'));
      const args = ['batch', file, '--template', templateId, '--out', path('out/many.zip')];
      const { code, stdout, stderr } = await platen(args);
      assert.equal(code, 0, stderr);
      assert.match(stdout, /^30 of 30 PDFs are in .*many\.zip\.$/m);
      assert.deepEqual(await entries('out'), ['many.zip']);
      const names = (await unzipFile(path('out/many.zip'))).map(({ name }) => name);
      assert.deepEqual(
        names,
        rows.map((_, i) => `invoice-${i}.pdf`),
      );
    });

    it('names file and line of every error before a request is sent', async () => {
      const errors = async (name: string, text: string, ...more: string[]) => {
        const { code, stderr } = await platen(
          ['batch', await write(name, text), '--out', path('x.zip'), ...more],
          { PLATEN_URL: `http://127.0.0.1:${await freePort()}` },
        );
        assert.equal(code, 1, stderr);
        return stderr.replaceAll(`${folder}/`, '').trim().split('\n');
      };
      const template = ['--template', templateId];
      assert.match((await errors('a.csv', 'a,b\n1,2\n3\n4,5\n', ...template))[0]!, /^a\.csv:3: .*columns/i);
      assert.deepEqual(await errors('b.csv', 'id,b\nx,2\ny,3\nx,4\n', ...template), [
        'b.csv:4: the id "x" is that of line 2 as well',
      ]);
      assert.match((await errors('c.csv', 'id,b\nx,2\ny,3\n'))[0]!, /needs --template/);
      const ndjson = ['{"id": "a", "html": "x"}', '', '{"id": ', '[]', '{"city": "Rome"}'].join('\n');
      const reported = await errors('d.ndjson', ndjson);
      assert.match(reported[0]!, /^d\.ndjson:3: not JSON: /);
      assert.deepEqual(reported.slice(1), [
        'd.ndjson:4: must be an object',
        'd.ndjson:5: names no html, url or template; --template ID gives one',
      ]);
      assert.match((await errors('e.txt', 'x'))[0]!, /must be a \.csv/);
      assert.match((await errors('f.ndjson', '{"html": "x"}'))[0]!, /at least two items/);
    });

    it('names file and line of the items that the service rejects', async () => {
      const lines = [{ html: 'x' }, { html: 'x', options: { scale: 9 } }, {}, { html: 'x', url: 'ftp://x' }];
      const text = lines
        .map((line) => (Object.keys(line).length === 0 ? '' : JSON.stringify(line)))
        .join('\n');
      const file = await write('bad.ndjson', text);
      const { code, stderr } = await platen(['batch', file, '--out', path('pdfs')]);
      assert.equal(code, 1);
      const reported = stderr.replaceAll(`${folder}/`, '');
      assert.match(reported, /^The service refuses \(VALIDATION\):$/m);
      assert.match(reported, /^bad\.ndjson:2: options\.scale: must be at most 2$/m);
      assert.match(reported, /^bad\.ndjson:4: only one of html, url/m);
    });

    it('prints its usage', async () => {
      for (const args of [[], ['a.csv'], ['a.csv', 'b.csv', '--out', 'x.zip'], ['--nonsense']]) {
        const { code, stderr } = await platen(['batch', ...args]);
        assert.equal(code, 1);
        assert.match(stderr, /usage: platen batch/);
      }
    });
  });
});
