import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { command, have } from './command.ts';
import { MAVEN, oapiCodegen, openapiGenerator } from './generators.ts';
import { openRig, PROGRAMS, type Rig } from './rig.ts';

/** In milliseconds: the first time generators are fetched and built. */
const LIMIT_MS = 1_200_000;

/** Clients that take minutes to build. */
describe('Generated clients', function () {
  this.timeout(LIMIT_MS);
  let rig: Rig;
  let folderOf: (generator: string) => string;

  before(async () => {
    rig = await openRig();
    folderOf = (generator) => join(rig.folder, generator);
    if (!(await have('java', 'mvn'))) return;
    await openapiGenerator(rig.document, rig.folder, [
      { generator: 'go', target: folderOf('go'), properties: { packageName: 'platen' } },
      // Else it sends an empty object for each that was not given, such as `data` without a template.
      { generator: 'java', target: folderOf('java'), properties: { containerDefaultToNull: 'true' } },
    ]);
  });
  after(() => rig?.close());

  it('of oapi-codegen, in Go', async function () {
    if (!(await have('go'))) return this.skip();
    const cwd = folderOf('oapi-codegen');
    await mkdir(join(cwd, 'client'), { recursive: true });
    await writeFile(join(cwd, 'client', 'client.go'), await oapiCodegen(rig.document));
    await copyFile(join(PROGRAMS, 'oapi-codegen.go'), join(cwd, 'main.go'));
    await command('go', ['mod', 'init', 'platen.test/generated'], { cwd, env: rig.env });
    await buildGo(rig, cwd, '.');
    await rig.tryOut('Go', join(cwd, 'program'), []);
  });

  it('of openapi-generator, in Go', async function () {
    if (!(await have('go', 'java', 'mvn'))) return this.skip();
    const cwd = folderOf('go');
    await mkdir(join(cwd, 'main'));
    await copyFile(join(PROGRAMS, 'openapi-generator.go'), join(cwd, 'main', 'main.go'));
    await command('go', ['mod', 'edit', '-module', 'platen.test/generated'], { cwd, env: rig.env });
    await buildGo(rig, cwd, './main');
    await rig.tryOut('Go', join(cwd, 'program'), []);
  });

  it('of openapi-generator, in Java', async function () {
    if (!(await have('java', 'javac', 'mvn'))) return this.skip();
    const cwd = folderOf('java');
    await copyFile(join(PROGRAMS, 'Main.java'), join(cwd, 'src', 'main', 'java', 'Main.java'));
    const classpath = 'org.apache.maven.plugins:maven-dependency-plugin:3.6.1:build-classpath';
    await command('mvn', [...MAVEN, 'compile', classpath, '-Dmdep.outputFile=classpath'], { cwd });
    const libraries = (await readFile(join(cwd, 'classpath'), 'utf8')).trim();
    await rig.tryOut('Java', 'java', ['-cp', `target/classes:${libraries}`, 'Main'], cwd);
  });
});

/** Builds a program in Go without what only debuggers read, which takes a tenth of the time. */
async function buildGo({ env }: Rig, cwd: string, path: string): Promise<void> {
  await command('go', ['mod', 'tidy'], { cwd, env });
  await command('go', ['build', '-gcflags=all=-dwarf=false', '-o', 'program', path], { cwd, env });
}
