import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readPdf } from '../support/pdf.ts';
import { openStandaloneService } from '../support/service.ts';
import { unzipFile } from '../support/unzip.ts';
import { command } from './command.ts';

/** What uses generated clients, one for each. */
export const PROGRAMS = join(import.meta.dirname, 'programs');

/** What each program prints that saves a PDF, follows a job, is refused, and downloads a batch of two. */
const DONE = ['job completed', 'error 400 VALIDATION options.scale: must be at most 2', 'batch completed'];

/** A running service, and the document that it describes itself by. */
export interface Rig {
  /** The file with the document. */
  readonly document: string;
  /** An empty folder for what is made of it. */
  readonly folder: string;
  /** What programs get to know of the service. */
  readonly env: Readonly<Record<string, string>>;
  /**
   * Runs a program that uses a generated client, and looks at what it printed and saved.
   *
   * @param language the text of the PDF that it saves, and a name of its own.
   */
  tryOut(language: string, program: string, args: readonly string[], cwd?: string): Promise<void>;
  close(): Promise<void>;
}

export async function openRig(): Promise<Rig> {
  const service = await openStandaloneService();
  const folder = await mkdtemp(join(tmpdir(), 'platen-generated-'));
  const document = join(folder, 'openapi.json');
  await writeFile(document, await (await fetch(`${service.url}/openapi.json`)).text());
  const { client } = await service.newTenant('professional');
  const env = { PLATEN_URL: service.url, PLATEN_API_KEY: client.key, GOFLAGS: '-mod=mod -buildvcs=false' };
  return {
    ...{ document, folder, env },
    async tryOut(language, program, args, cwd) {
      const saved = await mkdtemp(join(folder, 'saved-'));
      const printed = await command(program, args, { cwd, env: { ...env, SAVE_IN: saved } });
      assert.deepEqual(printed.trim().split('\n'), DONE);
      const { pages } = await readPdf(await readFile(join(saved, 'render.pdf')));
      assert.deepEqual([pages.length, pages[0]!.text.trim()], [1, language]);
      const names = (await unzipFile(join(saved, 'batch.zip'))).map(({ name }) => name);
      assert.deepEqual(names.filter((name) => name.endsWith('.pdf')).length, 2, names.join());
    },
    async close() {
      await service.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
