import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runLintCommand } from '../../src/cli/lint-command.ts';
import { openStandaloneService, type Tenant, type TestService } from '../support/service.ts';
import { serveWebPages, type WebPages } from '../support/web-pages.ts';

interface Report {
  status: string;
  engine: string;
  attempts: { number: number; outcome: string }[];
  requests: { url: string; kind: string; outcome: string; status: number | null; rule: string | null }[];
  console: { level: string; text: string }[];
  exceptions: { message: string; at: string }[];
  fonts: { asked: string[]; used: { family: string }[] }[];
  missingGlyphs: { character: string; codePoint: string; page: number; count: number }[];
  waits: { name: string; outcome: string }[];
  pages: number;
  size: number;
  error: { code: string; message: string } | null;
  picture: { mediaType: string; data: string } | null;
  warnings: string[];
  truncated: string[];
}

describe('the report of a render', () => {
  let service: TestService;
  let site: WebPages;
  let tenant: Tenant;
  let stranger: Tenant;

  before(async () => {
    service = await openStandaloneService({ PLATEN_WORKER_SLOTS: '2' });
    site = await serveWebPages({ '/page': '<p>x</p>' });
    tenant = await service.newTenant('business');
    stranger = await service.newTenant('business');
  });
  after(async () => {
    await service?.stop();
    await site?.close();
  });

  async function ask(path: string, { client }: Tenant): Promise<{ status: number; text: string }> {
    const { status, bytes } = await client.call('GET', path);
    return { status, text: Buffer.from(bytes).toString() };
  }

  /** Renders with a report, which is the same in the record of the job. */
  async function reported(fields: object, of = tenant): Promise<Report> {
    const { json } = await of.client.render({ report: true, executionMode: 'async', ...fields });
    const record = await of.client.end(json.jobId);
    assert.equal(record.reportEndpoint, `/v1/pdf/jobs/${json.jobId}/report`, JSON.stringify(record));
    const { status, text } = await ask(record.reportEndpoint, of);
    assert.equal(status, 200, text);
    assert.ok(Buffer.byteLength(text) <= 300 * 1024);
    return JSON.parse(text);
  }

  it('lists in plain words the problems that the author of a template can solve', async () => {
    const html = `<meta charset=utf-8><style>p { font-family: "No Such Font", sans-serif }</style><p>नमस्ते 漢字 x\u{10FFFD}</p>
      <img src="${site.url}/logo.png?token=abcdef123456"><script>console.log('sum', 3, { a: 1 }); throw new Error('boom')</script>`;
    const report = await reported({ html });
    const all = report.warnings.join('\n');
    assert.match(all, /logo\.png answered 404/);
    assert.match(all, /the font No Such Font was asked for and not there; .+ in/);
    assert.match(all, /A script has thrown: .*boom/);
    assert.match(all, /no font: .*\u{10FFFD}.*\(page 1\)/u);
    assert.deepEqual(report.console, [{ level: 'log', text: 'sum 3 {a: 1}' }]);
    assert.ok(report.missingGlyphs.some(({ codePoint, page }) => codePoint === 'U+10FFFD' && page === 1));
    assert.ok(report.missingGlyphs.every(({ codePoint }) => codePoint !== 'U+FFFD'));
    assert.ok(!JSON.stringify(report).includes('abcdef123456'), 'what lets a reader in is cut');
    assert.deepEqual([report.pages, report.error, report.status], [1, null, 'completed']);
    assert.ok(report.size > 0 && report.engine !== '');
    assert.deepEqual(
      report.attempts.map(({ outcome }) => outcome),
      ['completed'],
    );
    assert.ok(report.waits.every(({ outcome }) => outcome === 'reached'));
  });

  it('is there of a render that fails, with a picture of the page', async () => {
    const options = { waitForSelector: '#never', timeoutMs: 1500 };
    const html = '<p>so far</p><script>console.warn("waiting")</script>';
    const report = await reported({ html, options });
    assert.equal(report.error?.code, 'SELECTOR_TIMEOUT');
    assert.deepEqual(report.console, [{ level: 'warn', text: 'waiting' }]);
    assert.deepEqual(report.waits.at(-1)?.outcome, 'failed');
    assert.ok(report.picture !== null);
    assert.deepEqual([...Buffer.from(report.picture.data, 'base64').subarray(0, 2)], [0xff, 0xd8]);
  });

  it('holds no value of a cookie or an asset header, whatever the document makes of it, nor does the record', async () => {
    const [cookie, header] = ['cookie-9f31c7', 'header-52ab08'];
    const steal = `const said = [document.cookie, '${header}', location.href].join(' ')`;
    const body = {
      url: `${site.url}/page?token=address-77d1e0`,
      options: {
        cookies: [{ name: 'session', value: cookie, url: `${site.url}/` }],
        assetHeaders: { Authorization: header },
        // Enough for a busy machine to come to the expression, which it is to end in.
        timeoutMs: 15_000,
        waitForExpression: `(() => { ${steal}; console.log(said); fetch('/' + said); throw new Error(said); })()`,
      },
    };
    const { json } = await tenant.client.render({ report: true, executionMode: 'async', ...body });
    const record = await tenant.client.end(json.jobId);
    const { text } = await ask(record.reportEndpoint, tenant);
    const report: Report = JSON.parse(text);
    assert.equal(report.error?.code, record.error.code, text);
    assert.match(report.error!.message, /session=\*\*\* \*\*\* /);
    assert.match(report.console[0]!.text, /session=\*\*\* \*\*\* /);
    for (const secret of [cookie, header, 'address-77d1e0']) {
      assert.ok(!text.includes(secret), `${secret}: ${text}`);
      assert.ok(!JSON.stringify(record.error).includes(secret), JSON.stringify(record.error));
    }
  });

  it('names what failOn has failed the render, by the same list', async () => {
    const report = await reported({
      html: `<img src="${site.url}/lost.svg">`,
      options: { failOn: { assetStatus: ['400-499'] } },
    });
    assert.equal(report.error?.code, 'ASSET_FAILED');
    assert.ok(
      report.requests.some(({ status, url }) => status === 404 && report.error?.message.includes(url)),
    );
  });

  it('names the only character that no font has, in each of its fonts and on each page', async () => {
    const html = `<meta charset=utf-8><p>a\u{10FFFD}\u{10FFFD}</p><b style="break-before: page; display: block">\u{10FFFD}</b>`;
    const { missingGlyphs } = await reported({ html });
    const glyph = { character: '\u{10FFFD}', codePoint: 'U+10FFFD' };
    assert.deepEqual(missingGlyphs, [
      { ...glyph, page: 1, count: 2 },
      { ...glyph, page: 2, count: 1 },
    ]);
  });

  it('takes no more than its bounds of a document that floods it', async () => {
    const html = `<script>
      for (let i = 0; i < 100000; i++) console.log('x'.repeat(1000));
      for (let i = 0; i < 200; i++) setTimeout(() => { throw new Error('y'.repeat(1e6)); });
      for (let i = 0; i < 700; i++) new Image().src = '${site.url}/none/' + i;
      console.log({ get a() { throw 1; } });
    </script>`;
    const report = await reported({ html });
    assert.equal(report.console.length, 100);
    assert.equal(report.exceptions.length, 50);
    assert.ok(report.requests.length <= 500);
    for (const list of ['console', 'exceptions']) assert.ok(report.truncated.includes(list), list);
  });

  it('is visible to its own account alone, and only of a render that requested it', async () => {
    const [mine, theirs] = await Promise.all([
      reported({ html: '<script>console.log("mine")</script>' }),
      reported({ html: '<script>console.log("theirs")</script>' }, stranger),
    ]);
    assert.deepEqual([mine.console[0]?.text, theirs.console[0]?.text], ['mine', 'theirs']);
    const { json } = await tenant.client.render({
      html: '<script>console.log("plain")</script>',
      executionMode: 'async',
    });
    const record = await tenant.client.end(json.jobId);
    assert.equal(record.reportEndpoint, undefined);
    assert.equal((await ask(`/v1/pdf/jobs/${json.jobId}/report`, tenant)).status, 404);
  });

  it('is what platen lint goes by', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'platen-lint-'));
    try {
      const [good, bad] = [join(folder, 'good.html'), join(folder, 'bad.html')];
      await writeFile(good, '<p>fine</p>');
      await writeFile(bad, `<p>x<img src="${site.url}/lost.svg">`);
      const { url, key } = tenant.client;
      const lines: string[] = [];
      const lint = (...files: string[]) =>
        runLintCommand(files, { PLATEN_URL: url, PLATEN_API_KEY: key }, (line) => lines.push(line));
      assert.equal(await lint(good), 0, lines.join('\n'));
      assert.equal(await lint(good, bad), 1);
      assert.deepEqual(lines, [`${bad}: lost.svg answered 404 (${site.url}/lost.svg)`]);
      lines.length = 0;
      await writeFile(good, '<!doctype html><html lang=en><title>Fine</title><h1>Fine</h1>');
      await writeFile(bad, '<!doctype html><html lang=en><title>Bad</title><h1>Bad</h1><h3>Low</h3>');
      assert.equal(await lint(good, bad, '--accessible'), 1, lines.join('\n'));
      assert.deepEqual(lines, [
        `${bad}: h3 has level 3 after a heading of level 1; levels must not be skipped`,
      ]);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
