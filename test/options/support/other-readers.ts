import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
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

/** How a PDF is encrypted, as qpdf finds it. */
export interface Encryption {
  readonly revision: number;
  readonly bits: number;
  readonly streams: string;
  readonly strings: string;
  readonly version: string;
  /** By the names of pikepdf. */
  readonly allowed: Readonly<Record<string, boolean>>;
  /** Whether it opens without a password. */
  readonly openToAll: boolean;
  /** Whether the password that opened it was the owner's. */
  readonly byOwner: boolean;
  /** Texts of the document of more than three characters, and those of them that are in the file as they are. */
  readonly texts: number;
  readonly readable: readonly string[];
}

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
  /** The files in it, in the order in which readers search for them. */
  readonly attachments: readonly {
    /** As the key of its entry, and in its own record. */
    readonly name: string;
    readonly fileName: string;
    readonly type: string;
    readonly relationship: string;
    readonly description: string;
    readonly size: number;
    readonly sha256: string;
    /** Whether its bytes have the checksum that is noted with it. */
    readonly intact: boolean;
  }[];
  /** The fields to fill in: of radio buttons, one for each. */
  readonly fields: readonly {
    /** With those above it. */
    readonly name: string;
    readonly type: '/Tx' | '/Btn' | '/Ch' | '/Sig';
    readonly label: string;
    readonly values: readonly string[];
    readonly flags: number;
    readonly choices: readonly string[];
  }[];
  /** Names of the files that are associated with the document. */
  readonly associated: readonly string[];
  /** How it is encrypted; null for a PDF that is not. */
  readonly encryption: Encryption | null;
  /** By page. */
  readonly text: readonly string[];
}

/**
 * Compares what pdf.js has found in PDFs with what qpdf and PDFium find.
 *
 * @param files by name. @returns a sentence for each file in which they differ. @throws where `make pdf-readers` has not been run.
 */
export async function disagreements(files: ReadonlyMap<string, Printed>): Promise<string[]> {
  const results = await read([...files.values()]);
  return [...files].flatMap(([name, printed], i) => {
    try {
      assertSame(printed, results[i]!);
      return [];
    } catch (error) {
      return [`${name}: ${(error as Error).message}`];
    }
  });
}

/** What the other readers find in a PDF. @throws where `make pdf-readers` has not been run. */
export async function readByOthers(printed: Pick<Printed, 'bytes' | 'password'>): Promise<OtherResult> {
  return (await read([printed]))[0]!;
}

async function read(pdfs: readonly Pick<Printed, 'bytes' | 'password'>[]): Promise<OtherResult[]> {
  const folder = await mkdtemp(join(tmpdir(), 'platen-readers-'));
  try {
    for (const [i, { bytes, password }] of pdfs.entries()) {
      await writeFile(join(folder, `${i}.pdf`), bytes);
      if (password !== undefined) await writeFile(join(folder, `${i}.password`), password);
    }
    const limits = { timeout: HUNG_MS, maxBuffer: MAX_OUTPUT_BYTES };
    const { stdout } = await promisify(execFile)(PYTHON, [SCRIPT, folder], limits);
    const results: Record<string, OtherResult> = JSON.parse(stdout);
    return pdfs.map((_, i) => results[`${i}.pdf`]!);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function assertSame(printed: Printed, other: OtherResult): void {
  const { problems, sizes, outline, tagged, title, text, attachments } = other;
  assert.deepEqual(problems, []);
  const rounded = (all: readonly (readonly number[])[]) => all.map((one) => one.map(Math.round));
  assert.deepEqual(rounded(sizes), rounded(printed.pages.map(({ width, height }) => [width, height])));
  assert.deepEqual(
    { outline, tagged, title: title ?? undefined },
    { outline: printed.outline, tagged: printed.tagged, title: printed.metadata.title },
  );
  assert.deepEqual(
    attachments.map(({ name, description, sha256 }) => ({ name, description, sha256 })),
    printed.attachments.map(({ name, description, content }) => ({
      name,
      description,
      sha256: createHash('sha256').update(content).digest('hex'),
    })),
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
