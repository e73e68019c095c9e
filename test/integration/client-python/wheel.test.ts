import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { sharedStandaloneService, type TestService } from '../../support/service.ts';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const CLIENT = join(ROOT, 'clients', 'python');
const PYTHON = join(ROOT, '.cache', 'python-client', 'bin', 'python');
/** What a wheel has: its names, and what it says about itself but for the text of the page. Each build has its own format. */
const READ = `import email, json, re, sys, zipfile
from packaging.requirements import Requirement
archive = zipfile.ZipFile(sys.argv[1])
names = sorted(archive.namelist())
said = email.message_from_bytes(archive.read(next(name for name in names if name.endswith("/METADATA"))))
normal = lambda text: str(Requirement(re.sub("^[a-z_]+", lambda name: name[0].replace("_", "-"), text)))
needs = sorted(normal(text) for text in said.get_all("Requires-Dist"))
own = sorted(item for item in said.items() if item[0] not in ("Metadata-Version", "Requires-Dist"))
print(json.dumps([names, needs, own]))
`;
const RENDERS = `import platen
with platen.Client() as client:
    print(platen.__version__, client.render(html="<h1>Installed</h1>").content[:5])
`;

describe('the wheel of the Python client', () => {
  let service: TestService;
  let folder: string;
  let wheel: string;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'platen-wheel-'));
    await run(process.execPath, [join(ROOT, 'scripts', 'clients', 'pack.ts')]);
    service = await sharedStandaloneService();
    wheel = (await readdir(join(ROOT, 'dist', 'clients'))).find((name) => name.endsWith('.whl'))!;
  });
  after(() => rm(folder, { recursive: true, force: true }));

  it('is what the build of a checkout makes', async () => {
    const build = ['-m', 'hatchling', 'build', '-t', 'wheel', '-d', folder];
    await run(PYTHON, build, { cwd: CLIENT });
    const read = async (path: string) => JSON.parse((await run(PYTHON, ['-c', READ, path])).stdout);
    assert.deepEqual(await read(join(ROOT, 'dist', 'clients', wheel)), await read(join(folder, wheel)));
  });

  it('is installed by pip from the service, and renders', async () => {
    const target = join(folder, 'installed');
    // What it depends on is there.
    const install = ['-m', 'pip', 'install', '--quiet', '--no-deps', '--no-index', '--target', target];
    await run(PYTHON, [...install, `${service.url}/clients/${wheel}`]);
    const { client } = await service.newTenant('business');
    const env = { PYTHONPATH: target, PLATEN_URL: service.url, PLATEN_API_KEY: client.key };
    const { stdout } = await run(PYTHON, ['-c', RENDERS], { cwd: folder, env });
    assert.equal(stdout, `${wheel.split('-')[1]} b'%PDF-'\n`);
  });
});
