import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { MailServer } from '../support/mail-server.ts';
import { type RoleProcess, startRole } from '../support/processes.ts';
import { PROGRAM } from '../support/program.ts';
import { programOf, shellOf, strictShell, typescriptOf } from '../support/snippets.ts';
import { serveWebPages, type WebPages } from '../support/web-pages.ts';

const run = promisify(execFile);
const TOUR = new URL('../../docs/tour.md', import.meta.url);
const README = new URL('../../README.md', import.meta.url);
const GUIDE = new URL('../../docs/guide/', import.meta.url);
/** What pages of the guide take from the one about keys, kept for them in a file. */
const KEEP_ACCOUNT = '\ndeclare -p KEY TOKEN > account.env && declare -f field >> account.env\n';
const CLIENT_README = new URL('../../clients/typescript/README.md', import.meta.url);
/** What the README of the client takes for granted. */
const CLIENT_GIVEN = `import * as given from '@platen/client';
const [baseUrl, apiKey] = ['http://localhost:8080', process.env.PLATEN_API_KEY!];
const [email, password] = ['you@example.net', 'correct horse battery'];
const [html, number] = ['<p>Hello</p>', 66];
const customers = [{ number: 'c-1', name: 'Ada' }, { number: 'c-2', name: 'Grace' }];
const owner = await given.signIn({ baseUrl }, { email, password });
const content = '<p>Dear {{ customer.name }}</p>';
const saved = await given.dataOf(owner.POST('/user/templates', { body: { name: 'given', content } }));
const templateId = saved.id;
`;
const TAKE_ACCOUNT = '. ./account.env\n';

describe('The commands and snippets of the tour, the guide and the README', () => {
  let folder: string;
  let service: RoleProcess;
  let pages: WebPages;
  let mail: MailServer;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'platen-tour-'));
    pages = await serveWebPages({ '/': '<title>Example</title><h1>Example</h1>' });
    mail = await MailServer.start();
    service = await startRole('standalone', {
      PLATEN_DATA_DIR: join(folder, 'data'),
      PLATEN_ALLOWED_PRIVATE_NETWORKS: '127.0.0.0/8',
    });
    await service.ready();
  });
  after(async () => {
    await service?.end();
    await pages?.close();
    await mail?.close();
    await rm(folder, { recursive: true, force: true });
  });

  /** Runs commands as they stand, but for the addresses and the build. @throws what they write to stderr, at an error. */
  async function runShell(commands: string): Promise<void> {
    const here = commands
      .replaceAll('node_modules/.bin/node dist/main.js', `${process.execPath} ${PROGRAM}`)
      .replaceAll('node_modules/.bin/node', process.execPath)
      .replaceAll('localhost:8080', new URL(service.url).host)
      .replaceAll('https://example.com', pages.url)
      .replaceAll('localhost", 1025', `127.0.0.1", ${mail.port}`);
    const { PATH, HOME, JAVA_HOME } = process.env;
    const script = join(folder, 'commands.sh');
    await writeFile(script, strictShell(here));
    await run('bash', [script], {
      cwd: folder,
      maxBuffer: 16 * 1024 * 1024,
      env: {
        PATH,
        HOME,
        ...(JAVA_HOME !== undefined && { JAVA_HOME }),
        PLATEN_EMBEDDED: 'mongo-java-server',
      },
    });
  }

  it('succeed one after another, and leave the files that the tour names', async () => {
    const tour = shellOf(await readFile(TOUR, 'utf8'));
    const named = [...tour.matchAll(/ -o ([\w-]+\.(?:pdf|zip))/g)].map(([, name]) => name!);
    assert.ok(named.length > 8);
    await runShell(tour);
    const all = [...named, 'letters.zip', 'pdfs/ada.pdf', 'pdfs/a.pdf', 'pdfs/b.pdf'];
    for (const name of all) await assertPdf(name);
    await rm(join(folder, 'letters.zip'));
  });

  it('include a request of the README that makes a PDF', async () => {
    const requests = shellOf(await readFile(README, 'utf8'))
      .split('\n\n')
      .filter((block) => block.startsWith('curl '));
    assert.equal(requests.length, 1);
    await runShell(requests[0]!);
    assert.ok((await readdir(folder)).includes('invoice.pdf'));
    assert.equal((await readFile(join(folder, 'invoice.pdf'))).subarray(0, 4).toString('latin1'), '%PDF');
  });

  it('make the account that the guide goes on with', async () => {
    const page = await readFile(new URL('keys.md', GUIDE), 'utf8');
    await runShell(programOf(page) + KEEP_ACCOUNT);
    await runShell('node_modules/.bin/node dist/main.js accounts set-plan you@example.net business');
    await assertPdfs(page);
  });

  for (const name of readdirSync(GUIDE).filter((file) => file.endsWith('.md') && file !== 'keys.md')) {
    const page = readFileSync(new URL(name, GUIDE), 'utf8');
    if (programOf(page).trim() === '') continue;
    it(`of guide/${name} succeed and leave the files that it names`, async () => {
      await runShell(TAKE_ACCOUNT + programOf(page));
      await assertPdfs(page);
    });
  }

  it("of the TypeScript client's README succeed, one after another", async () => {
    const program = typescriptOf(await readFile(CLIENT_README, 'utf8'), CLIENT_GIVEN, {
      '@platen/client': new URL('../../clients/typescript/src/index.ts', import.meta.url).href,
    });
    const command = `export PLATEN_URL=http://localhost:8080 PLATEN_API_KEY=$KEY\n${process.execPath} client.mts\n`;
    await runShell(
      `${TAKE_ACCOUNT}cat > client.mts <<'END_OF_PROGRAM'\n${program}\nEND_OF_PROGRAM\n${command}`,
    );
    await assertPdf('letters.zip');
  });

  it('send the mail of the guide with the PDF attached', () => {
    const [sent] = mail.delivered;
    assert.match(sent!.message, /filename="invoice-66\.pdf"/);
    assert.match(sent!.message, /^JVBERi0/m, 'the PDF in base64');
  });

  /** Every file that a command or a program of the page writes is there, and is what its name says. */
  async function assertPdfs(page: string): Promise<void> {
    const named = [
      ...page.matchAll(/ -o ([\w-]+\.(?:pdf|zip))/g),
      ...page.matchAll(/(?:writeFile|open|WriteFile)\(['"]([\w-]+\.pdf)['"]/g),
    ].map(([, file]) => file!);
    for (const file of named) await assertPdf(file);
  }

  async function assertPdf(file: string): Promise<void> {
    const start = (await readFile(join(folder, file))).subarray(0, 4).toString('latin1');
    assert.equal(start, file.endsWith('.zip') ? 'PK\x03\x04' : '%PDF', file);
  }
});
