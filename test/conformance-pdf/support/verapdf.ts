import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { HUNG_MS } from '../../support/eventually.ts';

const FOLDER = fileURLToPath(new URL('../../../.cache/peers/verapdf/', import.meta.url));
const MAIN = 'org.verapdf.apps.GreenfieldCliWrapper';
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;

/** What veraPDF holds a file against. */
export type Flavour = '2a' | '2b' | '2u' | '3a' | '3b' | '3u' | '4' | 'ua1';

/** A PDF, and what it must conform to. */
export interface Judged {
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly flavours: readonly Flavour[];
}

interface Verdict {
  readonly itemDetails: { readonly name: string };
  readonly taskException?: { readonly exceptionMessage?: string };
  readonly validationResult?: readonly {
    readonly compliant: boolean;
    readonly details: {
      readonly passedChecks: number;
      readonly ruleSummaries: readonly {
        readonly ruleStatus: string;
        readonly specification: string;
        readonly clause: string;
        readonly testNumber: number;
        readonly failedChecks: number;
        readonly checks: readonly { readonly context: string; readonly errorMessage: string }[];
      }[];
    };
  }[];
}

/**
 * Has veraPDF judge PDFs.
 *
 * @returns a sentence for each rule that a file breaks. @throws where `make verapdf` has not been run, and when not every file
 *   was judged.
 */
export async function violations(files: readonly Judged[]): Promise<string[]> {
  if (!existsSync(join(FOLDER, 'java.args')))
    throw new Error('veraPDF is not installed: `make verapdf` does it.');
  const folder = await mkdtemp(join(tmpdir(), 'platen-verapdf-'));
  try {
    const placed = files.map((file, i) => ({ ...file, path: join(folder, `${i}.pdf`) }));
    for (const { path, bytes } of placed) await writeFile(path, bytes);
    const found: string[] = [];
    for (const flavour of new Set(files.flatMap(({ flavours }) => flavours))) {
      const own = placed.filter(({ flavours }) => flavours.includes(flavour));
      found.push(...(await judge(flavour, own)));
    }
    return found;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function judge(flavour: Flavour, files: readonly (Judged & { path: string })[]): Promise<string[]> {
  const names = new Map(files.map(({ path, name }) => [basename(path), name]));
  const verdicts = await run(flavour, [...files.map(({ path }) => path)]);
  if (verdicts.length !== files.length)
    throw new Error(`veraPDF has judged ${verdicts.length} files of ${files.length}.`);
  return verdicts.flatMap(({ itemDetails, validationResult, taskException }) => {
    const name = `${names.get(basename(itemDetails.name))} (${flavour})`;
    const [result] = validationResult ?? [];
    // A verdict that has looked at nothing is none.
    if (result === undefined || result.details.passedChecks === 0)
      return [`${name}: not judged: ${taskException?.exceptionMessage}`];
    return result.details.ruleSummaries
      .filter(({ ruleStatus }) => ruleStatus === 'FAILED')
      .map(({ specification, clause, testNumber, failedChecks, checks: [check] }) => {
        const rule = `${specification}, ${clause}-${testNumber}`;
        return `${name}: ${rule}, ${failedChecks} times: ${check?.errorMessage} (${check?.context.slice(-120)})`;
      });
  });
}

/** veraPDF ends with 1 where a file does not conform. */
async function run(flavour: Flavour, paths: readonly string[]): Promise<readonly Verdict[]> {
  const args = [
    '@java.args',
    MAIN,
    '-f',
    flavour,
    '--format',
    'json',
    '--maxfailuresdisplayed',
    '1',
    ...paths,
  ];
  const limits = { cwd: FOLDER, timeout: HUNG_MS, maxBuffer: MAX_OUTPUT_BYTES };
  const { stdout } = await promisify(execFile)('java', args, limits).catch(
    (error: { code?: unknown; stdout?: string }) => {
      if (error.code !== 1 || error.stdout === undefined) throw error;
      return { stdout: error.stdout };
    },
  );
  return (JSON.parse(stdout) as { report: { jobs: Verdict[] } }).report.jobs;
}

/** A document of the corpus. */
export async function corpusDocument(name: string): Promise<string> {
  return await readFile(new URL(`../documents/${name}.html`, import.meta.url), 'utf8');
}
