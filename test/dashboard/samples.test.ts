import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { sharedStandaloneService, type TestService } from '../support/service.ts';
import { seedAccount } from './support/seeded-account.ts';
import { Visitor } from './support/visitor.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const CLIENT = join(ROOT, 'clients/typescript/src/index.ts');
const PYTHON = join(ROOT, '.cache/python-client/bin/python');
/** What quotes a text in each language must not end, nor what stands for something else in it. */
const TRICKY = `<p>It's "quoted" \`here\` \\ \${there} {{ not }} %s é 漢 😀`;

/** How each sample is run, once it lies in a folder. */
const RUNS: Readonly<Record<string, { file: string; command: readonly string[] }>> = {
  curl: { file: 'sample.sh', command: ['bash', 'sample.sh'] },
  TypeScript: { file: 'sample.mts', command: [process.execPath, 'sample.mts'] },
  Python: { file: 'sample.py', command: [PYTHON, 'sample.py'] },
  Go: { file: 'sample.go', command: ['go', 'run', 'sample.go'] },
};

describe('A sample of the playground', () => {
  let service: TestService;
  let visitor: Visitor;
  let apiKey: string;
  let folder: string;

  before(async () => {
    assert.ok(existsSync(PYTHON), 'run make python-client first');
    service = await sharedStandaloneService();
    const { email, client } = await seedAccount(service);
    ({ apiKey } = await client.expect(201, 'POST', '/user/api-keys', { name: 'samples', mode: 'live' }));
    visitor = await Visitor.open(service.url);
    await visitor.signIn(email);
    await visitor.go('/playground');
    await visitor.fill('HTML', TRICKY);
    await visitor.fill('margin top', '3cm');
    await visitor.fill('headerTemplate', '<b>"2026"</b>');
    await visitor.page.select('::-p-aria(displayHeaderFooter)', 'true');
  });
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'platen-sample-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));
  after(() => visitor?.close());

  /** The sample as the page shows it. */
  async function sample(language: string): Promise<string> {
    await visitor.page.locator(`.outcome .tabs label ::-p-text(${language})`).click();
    await visitor.page.waitForFunction(
      (wanted) => document.querySelector('.outcome figcaption')?.textContent?.startsWith(wanted),
      {},
      language,
    );
    return visitor.page.$eval('.outcome pre', ({ textContent }) => textContent!);
  }

  async function run(language: string, code: string): Promise<{ exitCode: number; output: string }> {
    const { file, command } = RUNS[language]!;
    await writeFile(join(folder, file), code.replace("'@platen/client'", `'${CLIENT}'`));
    const [program, ...words] = command as [string, ...string[]];
    const env = {
      ...process.env,
      PLATEN_API_KEY: apiKey,
      PYTHONPATH: join(ROOT, 'clients/python/src'),
      PATH: `${process.env.PATH}:/usr/local/go/bin`,
    };
    return new Promise((resolve) => {
      execFile(program, words, { cwd: folder, env }, (error, stdout, stderr) =>
        resolve({ exitCode: error === null ? 0 : Number(error.code ?? 1), output: stdout + stderr }),
      );
    });
  }

  const pdf = () => readFile(join(folder, 'document.pdf')).catch(() => undefined);

  for (const language of Object.keys(RUNS)) {
    it(`in ${language} runs as it stands, and brings the PDF`, async () => {
      const { exitCode, output } = await run(language, await sample(language));
      assert.equal(exitCode, 0, output);
      assert.equal((await pdf())?.subarray(0, 5).toString(), '%PDF-');
    });

    it(`in ${language} ends with an error where the request is refused, and leaves no file that is no PDF`, async () => {
      const code = (await sample(language)).replaceAll('3cm', '3 parsecs');
      const { exitCode, output } = await run(language, code);
      assert.notEqual(exitCode, 0);
      assert.match(output, /margin/);
      assert.equal(await pdf(), undefined);
    });
  }
});
