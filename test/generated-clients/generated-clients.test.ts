import assert from 'node:assert/strict';
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { openStandaloneService, type TestService } from '../support/service.ts';
import {
  command,
  have,
  MAVEN,
  oapiCodegen,
  openapiGenerator,
  openapiPythonClient,
  PYTHON_OF_CLIENT,
} from './generators.ts';

const PROGRAMS = join(import.meta.dirname, 'programs');
const LIMIT_MS = 1_200_000;
/** What each program prints that renders, follows a job, is refused, and downloads a batch. */
const DONE = [
  'render %PDF-',
  'job completed',
  'error 400 VALIDATION options.scale: must be at most 2',
  'batch completed PK',
];

/** Clients that the usual generators make of the document of a running service, with that service. */
describe('Generated clients', function () {
  this.timeout(LIMIT_MS);
  let service: TestService;
  let folder: string;
  let document: string;
  let env: Record<string, string>;

  before(async () => {
    service = await openStandaloneService();
    folder = await mkdtemp(join(tmpdir(), 'platen-generated-'));
    document = join(folder, 'openapi.json');
    await writeFile(document, await (await fetch(`${service.url}/openapi.json`)).text());
    const { client } = await service.newTenant('professional');
    env = { PLATEN_URL: service.url, PLATEN_API_KEY: client.key, GOFLAGS: '-mod=mod -buildvcs=false' };
  });
  after(async () => {
    await service?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  const isDone = (printed: string) => assert.deepEqual(printed.trim().split('\n'), DONE);

  it('of openapi-python-client', async function () {
    if (!(await have('python3'))) return this.skip();
    await openapiPythonClient(document, join(folder, 'python', 'generated'));
    const program = join(folder, 'python', 'main.py');
    await copyFile(join(PROGRAMS, 'openapi_python_client.py'), program);
    isDone(await command(PYTHON_OF_CLIENT, [program], { env }));
  });

  it('of oapi-codegen, in Go', async function () {
    if (!(await have('go'))) return this.skip();
    const cwd = join(folder, 'oapi-codegen');
    await mkdir(join(cwd, 'client'), { recursive: true });
    await writeFile(join(cwd, 'client', 'client.go'), await oapiCodegen(document));
    await copyFile(join(PROGRAMS, 'oapi-codegen.go'), join(cwd, 'main.go'));
    await command('go', ['mod', 'init', 'platen.test/generated'], { cwd, env });
    await command('go', ['mod', 'tidy'], { cwd, env });
    isDone(await command('go', ['run', '.'], { cwd, env }));
  });

  it('of openapi-generator, in Go', async function () {
    if (!(await have('go', 'java', 'mvn'))) return this.skip();
    const cwd = join(folder, 'go');
    await openapiGenerator('go', document, cwd, { packageName: 'platen' });
    await mkdir(join(cwd, 'main'));
    await copyFile(join(PROGRAMS, 'openapi-generator.go'), join(cwd, 'main', 'main.go'));
    await command('go', ['mod', 'edit', '-module', 'platen.test/generated'], { cwd, env });
    await command('go', ['mod', 'tidy'], { cwd, env });
    isDone(await command('go', ['run', './main'], { cwd, env }));
  });

  it('of openapi-generator, in Java', async function () {
    if (!(await have('java', 'javac', 'mvn'))) return this.skip();
    const cwd = join(folder, 'java');
    // Else it sends an empty object for each that was not given, such as `data` without a template.
    await openapiGenerator('java', document, cwd, { containerDefaultToNull: 'true' });
    await copyFile(join(PROGRAMS, 'Main.java'), join(cwd, 'src', 'main', 'java', 'Main.java'));
    const classpath = 'org.apache.maven.plugins:maven-dependency-plugin:3.6.1:build-classpath';
    await command('mvn', [...MAVEN, 'compile', classpath, '-Dmdep.outputFile=classpath'], { cwd });
    const libraries = (await readFile(join(cwd, 'classpath'), 'utf8')).trim();
    isDone(await command('java', ['-cp', `target/classes:${libraries}`, 'Main'], { cwd, env }));
  });

  /** How each of these declares a class or an interface; PHP and Ruby have one name for upper and lower case files. */
  for (const [generator, extension, declaration] of [
    ['csharp', '.cs', /^ *public (?:partial |sealed |abstract |static )*(?:class|interface|enum) (\w+)/gm],
    ['php', '.php', /^(?:abstract |final )?(?:class|interface) (\S+)/gm],
    ['ruby', '.rb', /^ {2}class (\w+)/gm],
  ] as const) {
    it(`of openapi-generator, in ${generator}, have names that are legal and used once`, async function () {
      if (!(await have('java', 'mvn'))) return this.skip();
      const target = join(folder, generator);
      await openapiGenerator(generator, document, target);
      const files = (await readdir(target, { recursive: true })).filter((name) => name.endsWith(extension));
      const names: string[] = [];
      for (const file of files) {
        const text = await readFile(join(target, file), 'utf8');
        const declared = [...text.matchAll(declaration)].map(([, name]) => name!);
        if (/models?\/|api\//i.test(file)) names.push(...new Set(declared));
        // A pattern beside a date made `regex.Match(DateTime?)`, which does not compile.
        assert.doesNotMatch(text, /\.Match\(this\.\w+(?:At|Time|Date),/, file);
      }
      assert.ok(files.length > 100, `${files.length} files`);
      for (const name of names) assert.match(name, /^[A-Z]\w*$/);
      const models = files
        .filter((file) => /models?\//i.test(file))
        .map((file) => basename(file).toLowerCase());
      assert.equal(new Set(models).size, models.length);
      assert.ok(names.length > 100, `${names.length} names`);
      const classes = names.filter((name) => !name.endsWith('Enum'));
      assert.deepEqual(
        classes.filter((name, index) => classes.indexOf(name) !== index),
        [],
      );
    });
  }
});
