import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { command } from './command.ts';

const ROOT = join(import.meta.dirname, '..', '..');
/** Where the generators are kept, and what Maven fetches. */
const CACHE = join(ROOT, '.cache', 'generators');
const OPENAPI_GENERATOR = '7.17.0';
const OAPI_CODEGEN = 'v2.8.2';
const PYTHON = join(ROOT, '.cache', 'generated-clients', 'bin');
export const MAVEN = ['--quiet', '--batch-mode', `-Dmaven.repo.local=${join(CACHE, 'm2')}`];

/** A client that openapi-generator makes. */
export interface Wanted {
  /** Such as `go`. */
  readonly generator: string;
  /** Where it is written to. */
  readonly target: string;
  /** Of that generator. */
  readonly properties?: Readonly<Record<string, string>>;
  /** The HTTP client that the generated one uses; default the generator's. */
  readonly library?: string;
}

/**
 * Makes clients with openapi-generator, which Maven fetches: all by one Java, which reads the document and warms up once.
 *
 * @param folder for its settings.
 */
export async function openapiGenerator(
  document: string,
  folder: string,
  wanted: readonly Wanted[],
): Promise<void> {
  const artifact = `openapi-generator-cli-${OPENAPI_GENERATOR}.jar`;
  const jar = join(CACHE, artifact);
  if (!existsSync(jar)) {
    await mkdir(CACHE, { recursive: true });
    const copy = 'org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy';
    const ofMaven = `-Dartifact=org.openapitools:openapi-generator-cli:${OPENAPI_GENERATOR}`;
    await command('mvn', [...MAVEN, copy, ofMaven, `-DoutputDirectory=${CACHE}`]);
  }
  const files = await Promise.all(
    wanted.map(async ({ generator, target, properties = {}, library }) => {
      const settings = {
        generatorName: generator,
        inputSpec: document,
        outputDir: target,
        ...(library !== undefined && { library }),
        additionalProperties: properties,
        globalProperties: {
          apiTests: 'false',
          modelTests: 'false',
          apiDocs: 'false',
          modelDocs: 'false',
        },
      };
      const file = join(folder, `${generator}.json`);
      await writeFile(file, JSON.stringify(settings));
      return file;
    }),
  );
  await command('java', ['-Xmx1g', '-jar', jar, 'batch', '--fail-fast', ...files]);
}

/** Makes a client with oapi-codegen, which Go builds. @returns its source. */
export async function oapiCodegen(document: string): Promise<string> {
  const bin = join(CACHE, `oapi-codegen-${OAPI_CODEGEN}`);
  const program = join(bin, 'oapi-codegen');
  if (!existsSync(program)) {
    const module = `github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@${OAPI_CODEGEN}`;
    await command('go', ['install', module], { env: { GOBIN: bin } });
  }
  return await command(program, ['-generate', 'types,client', '-package', 'client', document]);
}

/** Makes a client with openapi-python-client, which `make generated-clients` installs. */
export async function openapiPythonClient(document: string, target: string): Promise<void> {
  const words = ['generate', '--path', document, '--output-path', target, '--meta', 'none'];
  await command(join(PYTHON, 'openapi-python-client'), words);
}

/** The Python that has what the client of openapi-python-client needs. */
export const PYTHON_OF_CLIENT = join(PYTHON, 'python');

/** The folder with PHP, Ruby and Mono; undefined where there is no Debian to fetch them from. */
export async function languages(): Promise<string | undefined> {
  return (await command(join(import.meta.dirname, 'install-languages.sh'), [])).trim() || undefined;
}
