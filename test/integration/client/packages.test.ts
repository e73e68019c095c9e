import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { sharedStandaloneService, type TestService } from '../../support/service.ts';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
/** A registry that is not there. */
const NOWHERE = 'http://127.0.0.1:9/';
const RENDERS = `import { PlatenClient, type RenderedPdf } from '@platen/client';

const pdf: RenderedPdf = await new PlatenClient().render({ html: '<h1>Installed</h1>' });
console.log(new TextDecoder().decode(pdf.bytes.subarray(0, 5)), pdf.pages);
`;

describe('the packages of the clients', () => {
  let service: TestService;
  let folder: string;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'platen-packages-'));
    await run(process.execPath, [join(ROOT, 'scripts', 'clients', 'pack.ts')]);
    service = await sharedStandaloneService();
  });
  after(() => rm(folder, { recursive: true, force: true }));

  it('are listed with their checksums, and how to install them', async () => {
    const page = await (await fetch(`${service.url}/clients`)).text();
    const names = [...page.matchAll(/href="\/clients\/([^"]+)"/g)].map(([, name]) => name!);
    assert.equal(names.length, 3, page);
    assert.match(page, /npm install http.*\/clients\/platen-client\.tgz\n/);
    assert.match(page, /pip install http.*\/clients\/platen-[\d.]+-py3-none-any\.whl</);
    const sums = await (await fetch(`${service.url}/clients/SHA256SUMS`)).text();
    for (const line of sums.trim().split('\n')) {
      const [sum, name] = line.split('  ');
      const content = await (await fetch(`${service.url}/clients/${name}`)).arrayBuffer();
      assert.equal(createHash('sha256').update(Buffer.from(content)).digest('hex'), sum, name);
    }
    assert.equal((await fetch(`${service.url}/clients/..%2f..%2fpackage.json`)).status, 400);
    assert.equal((await fetch(`${service.url}/clients/package.json`)).status, 404);
  });

  it('are the same bytes from the same sources', async () => {
    const again = join(folder, 'again');
    await run(process.execPath, [join(ROOT, 'scripts', 'clients', 'pack.ts'), again]);
    const served = await (await fetch(`${service.url}/clients/SHA256SUMS`)).text();
    assert.equal(await readFile(join(again, 'SHA256SUMS'), 'utf8'), served);
  });

  it('are installed by npm from the service alone, typed, and render', async () => {
    await writeFile(join(folder, 'package.json'), '{ "type": "module", "private": true }');
    const address = `${service.url}/clients/platen-client.tgz`;
    await run('npm', ['install', '--no-audit', '--no-fund', '--registry', NOWHERE, address], { cwd: folder });
    await writeFile(join(folder, 'renders.ts'), RENDERS);
    const types = join(ROOT, 'node_modules', '@types');
    const strict = ['--strict', '--exactOptionalPropertyTypes', '--noUncheckedIndexedAccess', '--noEmit'];
    const modules = ['--module', 'nodenext', '--target', 'es2022', '--typeRoots', types, '--types', 'node'];
    const compiler = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
    await run(process.execPath, [compiler, ...strict, ...modules, 'renders.ts'], { cwd: folder });
    const { client } = await service.newTenant('business');
    const env = { ...process.env, PLATEN_URL: service.url, PLATEN_API_KEY: client.key };
    const { stdout } = await run(process.execPath, ['renders.ts'], { cwd: folder, env });
    assert.equal(stdout, '%PDF- 1\n');
    const required = `const { PlatenClient } = require('@platen/client'); console.log(typeof PlatenClient);`;
    assert.equal((await run(process.execPath, ['-e', required], { cwd: folder })).stdout, 'function\n');
  });
});
