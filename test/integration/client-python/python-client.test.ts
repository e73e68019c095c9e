import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Test } from 'mocha';
import type { PlanName } from '../../../src/tenants/plans/plan.ts';
import { newEmail, PASSWORD, signUp } from '../../support/account-client.ts';
import { runCommand } from '../../support/command.ts';
import { openStandaloneService, SHORT_LEASE, type TestService } from '../../support/service.ts';
import { CERTIFICATE, PRIVATE_KEY } from '../egress/support/certificate.ts';

const CLIENT = fileURLToPath(new URL('../../../clients/python', import.meta.url));
const PYTHON = fileURLToPath(new URL('../../../.cache/python-client/bin/python', import.meta.url));
const LIMIT_MS = 1_800_000;
/** How long the service has a caller wait for a PDF. */
const SYNC_WAIT_MS = 4000;

interface Result {
  readonly test: string;
  readonly outcome: 'passed' | 'failed' | 'skipped';
  readonly what: string;
}

/** The client's own tests, in pytest, against a running service; each of them counts as one here. */
describe('the Python client', () => {
  let service: TestService;
  let control: Server;
  let folder: string;

  before(async function () {
    this.timeout(LIMIT_MS + 120_000);
    assert.ok(existsSync(PYTHON), 'run make python-client first');
    folder = await mkdtemp(join(tmpdir(), 'platen-python-'));
    const certificate = join(folder, 'certificate.pem');
    await writeFile(certificate, `${CERTIFICATE}${PRIVATE_KEY}`);
    service = await openStandaloneService({
      ...SHORT_LEASE,
      PLATEN_SYNC_WAIT_MS: String(SYNC_WAIT_MS),
      NODE_EXTRA_CA_CERTS: certificate,
    });
    control = createServer((request, response) => void act(request, response));
    await new Promise<void>((listening) => control.listen(0, '127.0.0.1', listening));
    for (const { test, outcome, what } of await pytest(certificate)) {
      this.test!.parent!.addTest(
        new Test(test, () => {
          assert.equal(outcome, 'passed', what);
        }),
      );
    }
  });
  after(async () => {
    control?.close();
    await service?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  // Without one test of its own it would have no hooks.
  it('is tested', () => {});

  /** Does what a test of the client asks to have done. */
  async function act({ url = '' }: IncomingMessage, response: ServerResponse): Promise<void> {
    const [, what, plan = ''] = url.split('/');
    try {
      const reported = await done(what, plan as PlanName);
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(reported));
    } catch (error) {
      response.writeHead(500).end(String(error));
    }
  }

  async function done(what: string | undefined, plan: PlanName): Promise<object> {
    switch (what) {
      case 'service':
        return { url: service.url };
      case 'key':
        return { apiKey: (await service.newTenant(plan)).client.key };
      case 'account':
        return newAccount(plan);
      case 'restart':
        await service.roles.get('standalone')!.end('SIGKILL');
        await service.restart('standalone');
        return {};
      default:
        throw new Error(`nothing is known of ${what}`);
    }
  }

  /** Somebody who can sign in, with a key. */
  async function newAccount(plan: PlanName) {
    const email = newEmail();
    const account = await signUp(service.url, email);
    const environment = { MONGODB_URI: service.mongodbUri };
    const { code, stderr } = await runCommand(['accounts', 'set-plan', email, plan], { environment });
    assert.equal(code, 0, stderr);
    while ((await account.expect(200, 'GET', '/auth/me')).plan !== plan) await sleep(50);
    const { apiKey } = await account.expect(201, 'POST', '/user/api-keys', { name: 'test' });
    return { email, password: PASSWORD, token: account.token, apiKey };
  }

  async function pytest(certificate: string): Promise<Result[]> {
    const results = join(folder, 'results');
    // PYTEST_ADDOPTS='-k batches' runs some of them.
    const { PATH, HOME, PYTEST_ADDOPTS } = process.env;
    const { port } = control.address() as AddressInfo;
    const child = spawn(PYTHON, ['-m', 'pytest', '-q'], {
      cwd: CLIENT,
      env: {
        PATH,
        HOME,
        PYTEST_ADDOPTS,
        PYTHONPATH: join(CLIENT, 'src'),
        PYTHONDONTWRITEBYTECODE: '1',
        PLATEN_TEST_CONTROL: `http://127.0.0.1:${port}`,
        PLATEN_TEST_CERTIFICATE: certificate,
        PLATEN_TEST_RESULTS: results,
      },
      stdio: ['ignore', 'pipe', 'inherit'],
      timeout: LIMIT_MS,
      killSignal: 'SIGKILL',
    });
    const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
    const said = await text(child.stdout);
    // 1: some have failed, which each of them says by itself.
    assert.ok([0, 1].includes((await ended) ?? -1), said);
    const lines = (await readFile(results, 'utf8')).trim().split('\n');
    return lines.map((line) => JSON.parse(line) as Result);
  }
});
