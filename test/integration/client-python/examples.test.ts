import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { checkExample, checkRejected, ExampleApp, exampleEnvironment } from '../../support/example-app.ts';
import { freePort } from '../../support/ports.ts';
import { sharedStandaloneService, type Tenant, type TestService } from '../../support/service.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const PYTHON = join(ROOT, '.cache', 'examples-python', 'bin', 'python');

const FRAMEWORKS: Readonly<Record<string, (port: string) => readonly string[]>> = {
  fastapi: (port) => ['uvicorn', 'main:app', '--port', port],
  flask: (port) => ['flask', 'run', '--port', port],
  django: (port) => ['manage', 'runserver', '--noreload', `127.0.0.1:${port}`],
};

describe('the examples for Python', () => {
  let service: TestService;
  let tenant: Tenant;

  before(async () => {
    assert.ok(existsSync(PYTHON), 'run make examples first');
    service = await sharedStandaloneService();
    tenant = await service.newTenant('business');
  });

  for (const [framework, command] of Object.entries(FRAMEWORKS)) {
    it(`run in ${framework}`, async () => {
      const environment = exampleEnvironment(service, tenant);
      for (const [env, check] of [
        [environment, (app: ExampleApp) => checkExample(app.send, environment, tenant)],
        [exampleEnvironment(service, tenant, 'sk_live_no'), (app: ExampleApp) => checkRejected(app.send)],
      ] as const) {
        const port = await freePort();
        const words: [string, ...string[]] = [PYTHON, '-m', ...command(String(port))];
        const paths = { PYTHONPATH: join(ROOT, 'clients', 'python', 'src'), PYTHONDONTWRITEBYTECODE: '1' };
        const app = new ExampleApp(words, join(ROOT, 'examples', framework), { ...env, ...paths }, port);
        try {
          await app.ready();
          await check(app);
        } finally {
          await app.end();
        }
      }
    });
  }
});
