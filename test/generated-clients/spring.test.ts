import { execFile } from 'node:child_process';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import {
  checkExample,
  checkRejected,
  ExampleApp,
  type ExampleEnvironment,
  exampleEnvironment,
} from '../support/example-app.ts';
import { freePort } from '../support/ports.ts';
import { sharedStandaloneService, type Tenant, type TestService } from '../support/service.ts';

const run = promisify(execFile);
const EXAMPLE = fileURLToPath(new URL('../../examples/spring', import.meta.url));

/** Built by Maven, as its users do. */
describe('the example for Spring Boot', () => {
  let service: TestService;
  let tenant: Tenant;
  let folder: string;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'platen-spring-'));
    await cp(EXAMPLE, folder, { recursive: true });
    await run('mvn', ['-q', '-B', 'package'], { cwd: folder });
    service = await sharedStandaloneService();
    tenant = await service.newTenant('business');
  });
  after(() => rm(folder, { recursive: true, force: true }));

  async function withApp(
    environment: ExampleEnvironment,
    use: (app: ExampleApp) => Promise<void>,
  ): Promise<void> {
    const port = await freePort();
    const command = ['java', '-jar', join(folder, 'target/invoices-1.jar'), `--server.port=${port}`] as const;
    const { PATH, JAVA_HOME } = process.env;
    const app = new ExampleApp([...command], folder, { PATH, JAVA_HOME, ...environment }, port);
    try {
      await app.ready();
      await use(app);
    } finally {
      await app.end();
    }
  }

  it('responds with PDFs, renders in the background and accepts signed callbacks', async () => {
    const environment = exampleEnvironment(service, tenant);
    await withApp(environment, (app) => checkExample(app.send, environment, tenant));
  });

  it('responds with 502 when the service rejects the request', async () => {
    const environment = exampleEnvironment(service, tenant, 'sk_live_no');
    await withApp(environment, (app) => checkRejected(app.send));
  });
});
