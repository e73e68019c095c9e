import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { HUNG_MS } from '../../support/eventually.ts';

const FOLDER = fileURLToPath(new URL('../../../.cache/peers/mustang/', import.meta.url));
const MAIN = 'org.mustangproject.commandline.Main';

interface Invoice {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/**
 * Has Mustang judge PDFs or XML alone: the XML by the schemas and by the rules of EN 16931 and of XRechnung, and the PDF/A.
 *
 * @returns a sentence for each. @throws where `make mustang` has not been run.
 */
export async function judgedInvoices(invoices: readonly Invoice[]): Promise<string[]> {
  assertInstalled();
  const folder = await mkdtemp(join(tmpdir(), 'platen-mustang-'));
  try {
    const verdicts: string[] = [];
    for (const [i, { name, bytes }] of invoices.entries()) {
      const isPdf = Buffer.from(bytes.subarray(0, 4)).toString() === '%PDF';
      const path = join(folder, `${i}.${isPdf ? 'pdf' : 'xml'}`);
      await writeFile(path, bytes);
      verdicts.push(`${name}: ${await judge(path)}`);
    }
    return verdicts;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The text of a file in Mustang, such as `FACTUR-X_EN16931.sch`: of its newest version. @throws where it has none. */
export async function mustangFile(name: string): Promise<string> {
  assertInstalled();
  const { stdout } = await promisify(execFile)('python3', ['-c', READ_NEWEST, join(FOLDER, 'jars'), name], {
    maxBuffer: 64 * 1024 * 1024,
  });
  return stdout;
}

function assertInstalled(): void {
  if (!existsSync(join(FOLDER, 'java.args')))
    throw new Error('Mustang is not installed: `make mustang` does it.');
}

const READ_NEWEST = `
import glob, sys, zipfile
jar = zipfile.ZipFile(glob.glob(sys.argv[1] + "/*.jar")[0])
newest = sorted(n for n in jar.namelist() if n.endswith("/" + sys.argv[2]))[-1]
sys.stdout.buffer.write(jar.read(newest))
`;

/** `valid`, or `invalid` with what was said. Mustang ends with another code than 0 for what is invalid. */
async function judge(path: string): Promise<string> {
  const args = ['@java.args', MAIN, '--action', 'validate', '--no-notices', '--source', path];
  const said = await promisify(execFile)('java', args, { cwd: FOLDER, timeout: HUNG_MS }).catch(
    (error: { stdout?: string }) => {
      if (error.stdout === undefined) throw error;
      return { stdout: error.stdout };
    },
  );
  const { stdout } = said;
  const verdict = /<summary status="(\w+)"\/>\s*<\/validation>/.exec(stdout)?.[1];
  // A verdict that has looked at nothing is none.
  if (verdict === 'valid' && /<fired>[1-9]/.test(stdout)) return verdict;
  const errors = [...stdout.matchAll(/<error\b[^>]*>([^<]*)/g)].map(([, text]) => text?.trim());
  return `${verdict}: ${errors.join('; ') || stdout}`;
}
