import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { signUp } from '../support/account-client.ts';
import { openStandaloneService, type TestService } from '../support/service.ts';

const PROGRAM = fileURLToPath(new URL('../../.cache/schemathesis/bin/schemathesis', import.meta.url));
const SETTINGS = fileURLToPath(new URL('schemathesis.toml', import.meta.url));
const LIMIT_MS = 1_800_000;
/** Which links are followed is left to chance and to what the machine answers in time: one of so many is, at least. */
const ONE_LINK_OF = 5;

/** A plan that nothing but a document's own faults can run against; renders are over quickly. */
const PLAN = {
  monthlyRenders: 1_000_000,
  requestsPerMinute: 1_000_000,
  maxWaitingJobs: 1_000_000,
  maxActiveKeys: 10_000,
  concurrentRenders: 2,
  maxTimeoutMs: 2000,
  features: { callbacks: true, templateVersions: true, revealIp: true },
};

/**
 * Thousands of requests made from the service's own OpenAPI document, valid and not. No answer may be a fault of the
 * service, or one that the document does not have.
 */
describe('the running service and its OpenAPI document', () => {
  let service: TestService;
  let folder: string;

  before(async () => {
    assert.ok(existsSync(PROGRAM), 'run make schemathesis first');
    folder = await mkdtemp(join(tmpdir(), 'platen-conformance-'));
    const plansFile = join(folder, 'plans.json');
    await writeFile(plansFile, JSON.stringify({ plans: { free: PLAN } }));
    service = await openStandaloneService({
      PLATEN_PLANS_FILE: plansFile,
      PLATEN_SYNC_WAIT_MS: '1000',
      PLATEN_SIGN_IN_FAILURES_PER_ADDRESS: '1000000',
      PLATEN_SIGN_IN_FAILURES_PER_ACCOUNT: '1000000',
    });
  });
  after(async () => {
    await service?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  it('agree', async function () {
    this.timeout(LIMIT_MS + 10_000);
    const account = await signUp(service.url);
    const { apiKey } = await account.expect(201, 'POST', '/user/api-keys', { name: 'conformance' });
    const { failed, report } = await schemathesis({
      API_KEY: apiKey,
      ACCOUNT_TOKEN: account.token,
      KEYS_TOKEN: (await signUp(service.url)).token,
      LOGOUT_TOKEN: (await signUp(service.url)).token,
    });
    const standalone = service.roles.get('standalone')!;
    const errors = standalone.logs.filter(({ level }) => level === 'error' || level === 'fatal');
    assert.ok(!failed, `${report}\n${errors.map((line) => JSON.stringify(line)).join('\n')}`);
    assert.deepEqual(errors, []);
    assert.equal((await fetch(`${service.url}/readyz`)).status, 200);
    const [, followed, links] = /API Links: +(\d+) covered \/ (\d+) selected/.exec(report) ?? [];
    assert.ok(Number(followed) * ONE_LINK_OF >= Number(links), `only ${followed} of ${links} links`);
  });

  function schemathesis(environment: NodeJS.ProcessEnv): Promise<{ failed: boolean; report: string }> {
    const { PATH, HOME } = process.env;
    const examples = process.env.EXAMPLES === undefined ? [] : ['--max-examples', process.env.EXAMPLES];
    const words = [
      '--config-file',
      SETTINGS,
      '--no-color',
      'run',
      ...examples,
      `${service.url}/openapi.json`,
    ];
    return new Promise((resolve) => {
      execFile(
        PROGRAM,
        words,
        { cwd: folder, env: { PATH, HOME, ...environment }, timeout: LIMIT_MS, maxBuffer: 64 * 1024 * 1024 },
        (error, stdout, stderr) => {
          const ended = error?.killed ? `\nended after ${LIMIT_MS} ms` : '';
          resolve({ failed: error !== null, report: `${stdout}${stderr}${ended}` });
        },
      );
    });
  }
});
