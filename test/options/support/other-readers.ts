import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { HUNG_MS } from '../../support/eventually.ts';
import type { Printed } from './cases.ts';

const PYTHON = fileURLToPath(new URL('../../../.cache/pdf-readers/bin/python', import.meta.url));
const SCRIPT = fileURLToPath(new URL('../readers/read.py', import.meta.url));
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;

/** What qpdf and PDFium find in a PDF. */
interface OtherResult {
  /** What qpdf complains of. */
  readonly problems: readonly string[];
  /** Width and height of each page as it is seen, in points. */
  readonly sizes: readonly (readonly [number, number])[];
  /** Titles of the top level. */
  readonly outline: readonly string[];
  readonly tagged: boolean;
  readonly title: string | null;
  /** By page. */
  readonly text: readonly string[];
}

/**
 * Compares what pdf.js has found in PDFs with what qpdf and PDFium find.
 *
 * @param files by name. @returns a sentence for each file in which they differ. @throws where `make pdf-readers` has not been run.
 */
export async function disagreements(files: ReadonlyMap<string, Printed>): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'platen-readers-'));
  try {
    const named = [...files].map(([name, printed], i) => ({ name, printed, file: `${i}.pdf` }));
    for (const { file, printed } of named) await writeFile(join(folder, file), printed.bytes);
    const limits = { timeout: HUNG_MS, maxBuffer: MAX_OUTPUT_BYTES };
    const { stdout } = await promisify(execFile)(PYTHON, [SCRIPT, folder], limits);
    const results: Record<string, OtherResult> = JSON.parse(stdout);
    return named.flatMap(({ name, printed, file }) => {
      try {
        assertSame(printed, results[file]!);
        return [];
      } catch (error) {
        return [`${name}: ${(error as Error).message}`];
      }
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function assertSame(printed: Printed, { problems, sizes, outline, tagged, title, text }: OtherResult): void {
  assert.deepEqual(problems, []);
  const rounded = (all: readonly (readonly number[])[]) => all.map((one) => one.map(Math.round));
  assert.deepEqual(rounded(sizes), rounded(printed.pages.map(({ width, height }) => [width, height])));
  assert.deepEqual(
    { outline, tagged, title: title ?? undefined },
    { outline: printed.outline, tagged: printed.tagged, title: printed.metadata.title },
  );
  assert.deepEqual(
    text.map(characters),
    printed.pages.map((page) => characters(page.text)),
  );
}

/** The characters of a text in a fixed order, because readers differ in how they separate and order words and lines. */
function characters(text: string): string {
  return [...text.normalize('NFKC').replaceAll(/[\s\p{Cc}\p{Cf}]/gu, '')].sort().join('');
}
