import { copyFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { command, have } from './command.ts';
import { languages, openapiGenerator, openapiPythonClient, PYTHON_OF_CLIENT } from './generators.ts';
import { openRig, PROGRAMS, type Rig } from './rig.ts';

/** In milliseconds: the first time generators and languages are fetched. */
const LIMIT_MS = 600_000;
/** Assemblies of Mono that the C# client refers to. */
const ASSEMBLIES = [
  'System.Net.Http',
  'Newtonsoft.Json',
  'System.ComponentModel.DataAnnotations',
  'System.Runtime.Serialization',
  'System.Web',
].map((name) => `-r:${name}.dll`);

/** Clients that are soon generated and built: CI makes these, and `make generated-clients` those in Go and Java besides. */
describe('Generated clients', function () {
  this.timeout(LIMIT_MS);
  let rig: Rig;
  let folderOf: (generator: string) => string;

  before(async function () {
    if (!(await have('java', 'mvn', 'python3'))) return this.skip();
    rig = await openRig();
    folderOf = (generator) => join(rig.folder, generator);
    await openapiGenerator(rig.document, rig.folder, [
      { generator: 'php', target: folderOf('php') },
      { generator: 'ruby', target: folderOf('ruby') },
      {
        generator: 'csharp',
        target: folderOf('csharp'),
        library: 'httpclient',
        // With retries it uses Polly, which Debian does not have.
        properties: { targetFramework: 'netstandard2.0', supportsRetry: 'false' },
      },
    ]);
  });
  after(() => rig?.close());

  it('of openapi-python-client', async () => {
    await openapiPythonClient(rig.document, join(folderOf('python'), 'generated'));
    const program = join(folderOf('python'), 'main.py');
    await copyFile(join(PROGRAMS, 'openapi_python_client.py'), program);
    await rig.tryOut('Python', PYTHON_OF_CLIENT, [program]);
  });

  it('of openapi-generator, in PHP', async function () {
    const folder = await languages();
    if (folder === undefined) return this.skip();
    const program = join(folderOf('php'), 'main.php');
    await copyFile(join(PROGRAMS, 'main.php'), program);
    await rig.tryOut('PHP', join(folder, 'php'), [program]);
  });

  it('of openapi-generator, in Ruby', async function () {
    const folder = await languages();
    if (folder === undefined) return this.skip();
    const program = join(folderOf('ruby'), 'main.rb');
    await copyFile(join(PROGRAMS, 'main.rb'), program);
    await rig.tryOut('Ruby', join(folder, 'ruby'), [program]);
  });

  it('of openapi-generator, in C#', async function () {
    const folder = await languages();
    if (folder === undefined) return this.skip();
    const source = join(folderOf('csharp'), 'src', 'Org.OpenAPITools');
    await copyFile(join(PROGRAMS, 'Main.cs'), join(source, 'Main.cs'));
    // Debian's Newtonsoft.Json is older than this setting, which is about properties without a name of their own: there are none.
    for (const file of ['Client/ApiClient.cs', 'Model/AbstractOpenAPISchema.cs']) {
      const text = await readFile(join(source, file), 'utf8');
      const without = text.replace(/NamingStrategy = new CamelCaseNamingStrategy\s*\{[^}]*\}/g, '');
      await writeFile(join(source, file), without);
    }
    const out = join(folderOf('csharp'), 'main.exe');
    const words = ['-langversion:latest', `-out:${out}`, ...ASSEMBLIES, '-recurse:*.cs'];
    await command(join(folder, 'mcs'), words, { cwd: source });
    await rig.tryOut('CSharp', join(folder, 'mono'), [out]);
  });
});
