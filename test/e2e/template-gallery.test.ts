import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runLintCommand } from '../../src/cli/lint-command.ts';
import { AccountClient } from '../support/account-client.ts';
import { readPdf } from '../support/pdf.ts';
import { openStandaloneService, type Tenant, type TestService } from '../support/service.ts';

const ROOT = new URL('../../', import.meta.url);
const TEMPLATES = new URL('examples/templates/', ROOT);
/** Each with its pages, and a text that is made of its data. */
const EXPECTED: Readonly<Record<string, readonly [pages: number, text: RegExp]>> = {
  certificate: [1, /Ada Lovelace/],
  contract: [2, /7\.2/],
  'delivery-note': [1, /125 of 127 pieces/],
  invoice: [1, /€1,848\.07/],
  label: [1, /30417799251/],
  letter: [1, /21 November 2026/],
  payslip: [1, /£2,721\.24/],
  receipt: [1, /\$33\.30/],
  report: [1, /3,912/],
  ticket: [1, /4 Dec 2026/],
};

describe('The templates of the gallery', () => {
  let service: TestService;
  let tenant: Tenant;
  let client: AccountClient;

  before(async () => {
    service = await openStandaloneService({ PLATEN_WORKER_SLOTS: '2' });
    tenant = await service.newTenant('business');
    const { token } = await service.tenants.tokens.issue(tenant.accountId);
    client = new AccountClient(service.url, token);
  });
  after(() => service?.stop());

  it('are ten, each with its data, its picture and its place in the guide', async () => {
    const names = (await readdir(TEMPLATES)).filter((name) => name.endsWith('.json'));
    const slugs = names.map((name) => name.replace('.json', ''));
    assert.deepEqual(slugs.sort(), Object.keys(EXPECTED).sort());
    const guide = await readFile(new URL('docs/guide/gallery.md', ROOT), 'utf8');
    for (const slug of slugs) {
      const { size } = await stat(new URL(`docs/pictures/templates/${slug}.webp`, ROOT));
      assert.ok(size > 1000 && size < 30_000, `the picture of ${slug} has ${size} bytes`);
      assert.ok(guide.includes(`pictures/templates/${slug}.webp`), slug);
    }
  });

  for (const [slug, [pages, text]] of Object.entries(EXPECTED)) {
    it(`${slug}: is saved as it is, prints its data, and passes platen lint`, async () => {
      const { name, options, data } = JSON.parse(await readFile(new URL(`${slug}.json`, TEMPLATES), 'utf8'));
      const content = await readFile(new URL(`${slug}.html`, TEMPLATES), 'utf8');
      const body = { name, content, options, sampleData: JSON.stringify(data) };
      const { id } = await client.expect(201, 'POST', '/user/templates', body);
      const { json } = await tenant.client.render({
        templateId: id,
        data,
        report: true,
        executionMode: 'async',
      });
      await tenant.client.end(json.jobId);
      const report = await tenant.client.call('GET', `/v1/pdf/jobs/${json.jobId}/report`);
      assert.deepEqual(report.json.warnings, []);
      const { bytes } = await tenant.client.call('GET', `/v1/pdf/jobs/${json.jobId}/file`);
      const printed = await readPdf(bytes);
      assert.equal(printed.pages.length, pages);
      assert.match(printed.text, text);
      await lint(
        slug,
        (await client.expect(200, 'POST', '/user/templates/preview', { templateId: id })).html,
        options,
      );
    });
  }

  async function lint(
    slug: string,
    html: string,
    { headerTemplate: _, footerTemplate: __, ...options }: Record<string, unknown>,
  ) {
    const folder = await mkdtemp(join(tmpdir(), 'platen-gallery-'));
    try {
      const file = join(folder, `${slug}.html`);
      await writeFile(file, html);
      const lines: string[] = [];
      const environment = { PLATEN_URL: tenant.client.url, PLATEN_API_KEY: tenant.client.key };
      const given = ['--accessible', '--options', JSON.stringify(options)];
      const code = await runLintCommand([file, ...given], environment, (line) => lines.push(line));
      assert.equal(code, 0, lines.join('\n'));
    } finally {
      await rm(folder, { recursive: true });
    }
  }
});
