import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type RoleProcess, startRole } from '../support/processes.ts';
import { PROGRAM } from '../support/program.ts';
import { shellOf, strictShell, typescriptOf } from '../support/snippets.ts';
import { serveWebPages, type WebPages } from '../support/web-pages.ts';

const run = promisify(execFile);
const README = new URL('../../README.md', import.meta.url);
const CLIENT_README = new URL('../../clients/typescript/README.md', import.meta.url);
/** What the README of the client takes for granted. */
const CLIENT_GIVEN = `import * as given from '@platen/client';
const [baseUrl, apiKey] = ['http://localhost:8080', process.env.PLATEN_API_KEY!];
const [email, password] = ['owner@localhost.localdomain', 'correct horse battery'];
const [html, number] = ['<p>Hello</p>', 66];
const customers = [{ number: 'c-1', name: 'Ada' }, { number: 'c-2', name: 'Grace' }];
const owner = await given.signIn({ baseUrl }, { email, password });
const content = '<p>Dear {{ customer.name }}</p>';
const saved = await given.dataOf(owner.POST('/user/templates', { body: { name: 'given', content } }));
const templateId = saved.id;
`;

describe('The commands and snippets of the READMEs', () => {
  let folder: string;
  let service: RoleProcess;
  let pages: WebPages;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'platen-tour-'));
    pages = await serveWebPages({ '/': '<title>Example</title><h1>Example</h1>' });
    service = await startRole('standalone', {
      PLATEN_DATA_DIR: join(folder, 'data'),
      PLATEN_ALLOWED_PRIVATE_NETWORKS: '127.0.0.0/8',
    });
    await service.ready();
  });
  after(async () => {
    await service?.end();
    await pages?.close();
    await rm(folder, { recursive: true, force: true });
  });

  /** Runs commands as they stand, but for the addresses and the build. @throws what they write to stderr, at an error. */
  async function runShell(commands: string): Promise<void> {
    const here = commands
      .replaceAll('node_modules/.bin/node dist/main.js', `${process.execPath} ${PROGRAM}`)
      .replaceAll('node_modules/.bin/node', process.execPath)
      .replaceAll('localhost:8080', new URL(service.url).host)
      .replaceAll('https://example.com', pages.url);
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

  it('include a request of the README that makes a PDF', async () => {
    const requests = shellOf(await readFile(README, 'utf8'))
      .split('\n\n')
      .filter((block) => block.startsWith('curl '));
    assert.equal(requests.length, 1);
    await runShell(requests[0]!);
    assert.ok((await readdir(folder)).includes('invoice.pdf'));
    assert.equal((await readFile(join(folder, 'invoice.pdf'))).subarray(0, 4).toString('latin1'), '%PDF');
  });

  it("of the TypeScript client's README succeed, one after another", async () => {
    const program = typescriptOf(await readFile(CLIENT_README, 'utf8'), CLIENT_GIVEN, {
      '@platen/client': new URL('../../clients/typescript/src/index.ts', import.meta.url).href,
    });
    await runShell(`
cat > client.mts <<'END_OF_PROGRAM'
${program}
END_OF_PROGRAM
echo 'correct horse battery' | node_modules/.bin/node dist/main.js accounts reset-password owner@localhost.localdomain --password-stdin
export PLATEN_URL=http://localhost:8080 PLATEN_API_KEY=$(cat data/first-api-key)
node_modules/.bin/node client.mts
`);
    await assertPdf('letters.zip');
  });

  async function assertPdf(file: string): Promise<void> {
    const start = (await readFile(join(folder, file))).subarray(0, 4).toString('latin1');
    assert.equal(start, file.endsWith('.zip') ? 'PK\x03\x04' : '%PDF', file);
  }
});
