import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const ROOT = join(import.meta.dirname, '..', '..');
/** Where the generators are kept, and what Maven fetches. */
const CACHE = join(ROOT, '.cache', 'generators');
const OPENAPI_GENERATOR = '7.17.0';
const OAPI_CODEGEN = 'v2.8.2';
const PYTHON = join(ROOT, '.cache', 'generated-clients', 'bin');
export const MAVEN = ['--quiet', '--batch-mode', `-Dmaven.repo.local=${join(CACHE, 'm2')}`];

const run = promisify(execFile);

/** Runs a program. @returns what it printed. @throws Error with all that it said when it fails. */
export async function command(
  program: string,
  args: readonly string[],
  options: { readonly cwd?: string; readonly env?: Readonly<Record<string, string>> } = {},
): Promise<string> {
  const env = { ...process.env, ...options.env };
  try {
    const { stdout } = await run(program, args, { ...options, env, maxBuffer: 64 * 1024 * 1024 });
    return stdout;
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { readonly stdout?: string; readonly stderr?: string };
    throw new Error(`${program} ${args.join(' ')}\n${stdout.slice(-4000)}\n${stderr.slice(-4000)}`, {
      cause: error,
    });
  }
}

/** Whether all of these programs can be started. */
export async function have(...programs: readonly string[]): Promise<boolean> {
  for (const program of programs) {
    const found = await run('sh', ['-c', `command -v ${program}`]).catch(() => undefined);
    if (found === undefined) return false;
  }
  return true;
}

/** Makes a client with openapi-generator, which Maven fetches. @param generator such as `go`. */
export async function openapiGenerator(
  generator: string,
  document: string,
  target: string,
  properties: Readonly<Record<string, string>> = {},
): Promise<void> {
  const artifact = `openapi-generator-cli-${OPENAPI_GENERATOR}.jar`;
  const jar = join(CACHE, artifact);
  if (!existsSync(jar)) {
    await mkdir(CACHE, { recursive: true });
    const copy = 'org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy';
    const wanted = `-Dartifact=org.openapitools:openapi-generator-cli:${OPENAPI_GENERATOR}`;
    await command('mvn', [...MAVEN, copy, wanted, `-DoutputDirectory=${CACHE}`]);
  }
  const given = Object.entries(properties).map(([name, value]) => `${name}=${value}`);
  const words = ['generate', '-g', generator, '-i', document, '-o', target];
  const without = 'apiTests=false,modelTests=false,apiDocs=false,modelDocs=false';
  const more = given.length === 0 ? [] : [`--additional-properties=${given.join(',')}`];
  await command('java', ['-Xmx600m', '-jar', jar, ...words, '--global-property', without, ...more]);
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
