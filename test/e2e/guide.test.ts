import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from '../../scripts/docs-site/root.ts';
import { GROUPS } from '../../src/http/site/docs/groups.ts';
import { MailServer } from '../support/mail-server.ts';
import { type RoleProcess, startRole } from '../support/processes.ts';
import { PROGRAM } from '../support/program.ts';
import { ReadersShell } from '../support/readers-shell.ts';
import { sharedSealKeys } from '../support/seal-keys.ts';
import { programOf, savedFilesOf, savingCommandsOf } from '../support/snippets.ts';
import { serveWebPages, type WebPages } from '../support/web-pages.ts';

/** What a reader meets who goes down the side bar from its top. Callbacks have programs of their own, and a test of those. */
const PAGES = GROUPS.filter(({ label }) => ['Start here', 'Guides'].includes(label))
  .flatMap(({ files }) => files)
  .filter((file) => file !== 'docs/callbacks.md');

describe('The guide, page after page, with one new service', () => {
  let folder: string;
  let service: RoleProcess;
  let pages: WebPages;
  let mail: MailServer;
  let shell: ReadersShell;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'platen-guide-'));
    pages = await serveWebPages({ '/': '<title>Example</title><h1>Example</h1>' });
    mail = await MailServer.start();
    service = await startRole('standalone', {
      PLATEN_DATA_DIR: join(folder, 'data'),
      PLATEN_ALLOWED_PRIVATE_NETWORKS: '127.0.0.0/8',
      PLATEN_SEAL_KEYS_DIR: (await sharedSealKeys()).folder,
    });
    await service.ready();
    shell = new ReadersShell(folder);
  });
  after(async () => {
    await shell?.end();
    await service?.end();
    await pages?.close();
    await mail?.close();
    await rm(folder, { recursive: true, force: true });
  });

  for (const file of PAGES) {
    const page = readFileSync(join(ROOT, file), 'utf8');
    const program = programOf(page);
    if (program.trim() === '') continue;
    it(`${file}: every snippet succeeds, and leaves the files that it names`, async () => {
      await asReader(program);
      for (const name of savedFilesOf(page)) await assertSaved(name);
    });
  }

  it('leaves the files that the command line of the tour makes', async () => {
    for (const name of ['letters.zip', 'pdfs/ada.pdf', 'pdfs/a.pdf', 'pdfs/b.pdf']) await assertSaved(name);
  });

  it('sends the mail with the PDF attached', () => {
    const [sent] = mail.delivered;
    assert.match(sent!.message, /filename="invoice-66\.pdf"/);
    assert.match(sent!.message, /^JVBERi0/m, 'the PDF in base64');
  });

  it('ends the loops that wait for a job when the job fails', async () => {
    const loops = PAGES.flatMap((file) => {
      const page = readFileSync(join(ROOT, file), 'utf8');
      return [...page.matchAll(/^while curl .*?done$/gms)].map(([loop]) => loop);
    });
    assert.equal(loops.length, 3);
    const failing = { html: '<p>Never</p>', options: { waitForSelector: '#never', timeoutMs: 1000 } };
    const alone = JSON.stringify({ ...failing, executionMode: 'async' });
    const batch = JSON.stringify({ items: ['a', 'b'].map((id) => ({ id, ...failing })) });
    await asReader(`
send() { curl -sS localhost:8080/v1/pdf$1 -H "X-API-Key: $KEY" -H 'Content-Type: application/json' -d "$2" | field jobId; }
JOB=$(send '' '${alone}')
BATCH=$(send /batch '${batch}')
${loops.join('\n')}
curl -sS localhost:8080/v1/pdf/jobs/$JOB -H "X-API-Key: $KEY" | grep -q '"status":"failed"'
`);
  });

  async function assertSaved(name: string): Promise<void> {
    const start = (await readFile(join(folder, name))).subarray(0, 4).toString('latin1');
    assert.equal(start, name.endsWith('.zip') ? 'PK\x03\x04' : '%PDF', name);
  }

  /** Runs what a page has, in the shell in which the pages before it were run. */
  async function asReader(commands: string): Promise<void> {
    await shell.run(
      commands
        .replaceAll('node_modules/.bin/node dist/main.js', `${process.execPath} ${PROGRAM}`)
        .replaceAll('node_modules/.bin/node', process.execPath)
        .replaceAll('localhost:8080', new URL(service.url).host)
        .replaceAll('https://example.com', pages.url)
        .replaceAll('localhost", 1025', `127.0.0.1", ${mail.port}`),
    );
  }
});

describe('The commands of all pages', () => {
  it('fail when the response that they save is an error', () => {
    const pages = ['README.md', ...globSync('docs/**/*.md', { cwd: ROOT })];
    const saving = pages.flatMap((file) =>
      savingCommandsOf(readFileSync(join(ROOT, file), 'utf8')).map((command) => ({ file, command })),
    );
    assert.ok(saving.length > 40, `${saving.length} commands`);
    assert.deepEqual(
      saving.filter(({ command }) => !/ --fail(-with-body)?\b/.test(command)),
      [],
    );
  });
});
