import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A file of plans, for PLATEN_PLANS_FILE. */
export interface PlansFile {
  readonly path: string;
  remove(): Promise<void>;
}

/** Writes plans, by their names: what differs from the built-in ones. */
export async function writePlansFile(plans: object): Promise<PlansFile> {
  const folder = await mkdtemp(join(tmpdir(), 'platen-plans-'));
  const path = join(folder, 'plans.json');
  await writeFile(path, JSON.stringify({ plans }));
  return { path, remove: () => rm(folder, { recursive: true, force: true }) };
}
