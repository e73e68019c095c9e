import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { eventually } from '../../support/eventually.ts';
import {
  checkExample,
  checkRejected,
  ExampleApp,
  type ExampleEnvironment,
  exampleEnvironment,
} from '../../support/example-app.ts';
import { freePort } from '../../support/ports.ts';
import { sharedStandaloneService, type Tenant, type TestService } from '../../support/service.ts';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const MODULES = join(ROOT, 'node_modules');

/** Handlers of a route of Next.js. */
type Handler = (
  request: Request,
  context: { readonly params: Promise<{ readonly number: string }> },
) => Promise<Response>;
type Routes = Readonly<Record<'GET' | 'POST', Handler>>;

/** With the package that users install, in a folder of its own. */
describe('the examples for Node', () => {
  let service: TestService;
  let tenant: Tenant;
  let folder: string;
  let environment: ExampleEnvironment;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'platen-examples-'));
    await run(process.execPath, [join(ROOT, 'scripts', 'clients', 'pack.ts')]);
    service = await sharedStandaloneService();
    tenant = await service.newTenant('business');
    environment = exampleEnvironment(service, tenant);
    await writeFile(join(folder, 'package.json'), '{ "type": "module", "private": true }');
    const address = `${service.url}/clients/platen-client.tgz`;
    await run('npm', ['install', '--no-audit', '--no-fund', address], { cwd: folder });
    await mkdir(join(folder, 'node_modules', '@types'));
    for (const name of ['express', '@types/node'])
      await symlink(join(MODULES, name), join(folder, 'node_modules', name));
    await cp(join(ROOT, 'examples'), folder, { recursive: true });
  });
  after(() => rm(folder, { recursive: true, force: true }));

  async function express(env: ExampleEnvironment): Promise<ExampleApp> {
    const port = await freePort();
    const command = [process.execPath, join(folder, 'express', 'server.mjs')] as const;
    const app = new ExampleApp([...command], folder, { ...env, PORT: String(port) }, port);
    await app.ready();
    return app;
  }

  it('run in Express', async () => {
    const app = await express(environment);
    try {
      await checkExample(app.send, environment, tenant);
    } finally {
      await app.end();
    }
    const refused = await express(exampleEnvironment(service, tenant, 'sk_live_no'));
    try {
      await checkRejected(refused.send);
    } finally {
      await refused.end();
    }
  });

  it('cancel the render of a page that was closed', async () => {
    const own = await service.newTenant('business');
    // They have every slot of the worker, so that nothing else begins meanwhile.
    const slow = { html: '<p>x</p>', options: { delayMs: 20_000 } };
    const held = new Set(await Promise.all([1, 2, 3].map(() => own.client.submit(slow))));
    const app = await express(exampleEnvironment(service, own));
    try {
      const page = new AbortController();
      const rejected = assert.rejects(app.send('/invoices/66', { signal: page.signal }), {
        name: 'AbortError',
      });
      const listed = async () => {
        const { json } = await own.client.call('GET', '/v1/pdf/jobs');
        const jobs: readonly { jobId: string; status: string }[] = json.jobs;
        return jobs.filter(({ jobId }) => !held.has(jobId)).map(({ status }) => status);
      };
      await eventually('it is submitted', async () => (await listed()).length === 1);
      page.abort();
      await rejected;
      await eventually('it is cancelled', async () => (await listed()).join() === 'cancelled');
    } finally {
      await app.end();
      for (const id of held) await own.client.call('DELETE', `/v1/pdf/jobs/${id}`);
    }
  });

  it('run as route handlers of Next.js, and are typed', async () => {
    const compiler = join(MODULES, 'typescript', 'bin', 'tsc');
    const files = ['app/invoices/[number]/route.ts', 'app/callbacks/route.ts'];
    const options = ['--strict', '--noEmit', '--module', 'nodenext', '--target', 'es2022', '--types', 'node'];
    const cwd = join(folder, 'nextjs');
    await run(process.execPath, [compiler, ...options, ...files], { cwd }).catch((error) => {
      throw new Error(String(error.stdout));
    });
    Object.assign(process.env, environment);
    try {
      const routes = async (file: string) => (await import(pathToFileURL(join(cwd, file)).href)) as Routes;
      const [invoices, callbacks] = [await routes(files[0]!), await routes(files[1]!)];
      const send = (path: string, init?: RequestInit) => {
        const request = new Request(`http://localhost${path}`, init);
        const number = path.split('/').at(-1)!;
        const { GET, POST } = path.startsWith('/callbacks') ? callbacks : invoices;
        return (request.method === 'GET' ? GET : POST)(request, { params: Promise.resolve({ number }) });
      };
      await checkExample(send, environment, tenant);
    } finally {
      for (const name of Object.keys(environment)) delete process.env[name];
    }
  });
});
