import { createHash, randomUUID } from 'node:crypto';
import { readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startGuarded } from './guarded-process.ts';
import { parseResponse } from './launcher-response.ts';
import { makePrivateSocket } from './private-socket.ts';

/**
 * The loaded classes of the embedded database, which a JVM maps at its start instead of reading the jars. A JVM accepts
 * only an archive that it has made itself from the same jars. Given the archive of another JVM, it starts without one;
 * a damaged archive may crash it. So the record next to the archive names the JVM, the jars and the archive's hash.
 */
const ARCHIVE = 'classes.jsa';
const RECORD = 'classes.json';
/** Longer than any run takes, in milliseconds. */
const ABANDONED_AFTER_MS = 600_000;

interface ArchiveRecord {
  /** The JVM that made it, as the launcher names it. */
  readonly jvm: string;
  /** Names, sizes and times of the jars. */
  readonly jars: string;
  /** Hex SHA-256 of the archive. */
  readonly sha256: string;
}

/** Flags for a JVM that uses this folder's archive; undefined unless it is undamaged and fits its jars. */
export async function archiveToUse(
  jarsDir: string,
): Promise<{ readonly flags: readonly string[]; readonly jvm: string } | undefined> {
  try {
    const record = JSON.parse(await readFile(join(jarsDir, RECORD), 'utf8')) as ArchiveRecord;
    const [archive, jars] = await Promise.all([readFile(join(jarsDir, ARCHIVE)), describeJars(jarsDir)]);
    if (record.sha256 !== sha256(archive) || record.jars !== jars) return undefined;
    return { flags: [`-XX:SharedArchiveFile=${ARCHIVE}`], jvm: record.jvm };
  } catch {
    return undefined;
  }
}

/**
 * Makes the archive by a short run of the database without data, and replaces the existing archive, which may be in
 * use.
 *
 * @param java the program that will use the archive.
 * @throws Error when it cannot be made or stored; then starts are slower, without any other effect.
 */
export async function makeClassArchive(java: string, jarsDir: string): Promise<void> {
  const scratch = `${ARCHIVE}.${randomUUID()}`;
  const path = join(jarsDir, scratch);
  const socket = await makePrivateSocket('archive.sock');
  try {
    await removeAbandoned(jarsDir);
    const jars = await describeJars(jarsDir);
    const flags = ['@java.args', `-XX:ArchiveClassesAtExit=${scratch}`];
    const args = [...flags, 'EmbeddedDatabase', `${path}.mv`, '0', socket.path];
    const jvm = await rehearse(java, args, jarsDir);
    const record: ArchiveRecord = { jvm, jars, sha256: sha256(await readFile(path)) };
    await rename(path, join(jarsDir, ARCHIVE));
    await writeFile(`${path}.json`, JSON.stringify(record));
    await rename(`${path}.json`, join(jarsDir, RECORD));
  } finally {
    await socket.remove();
    for (const rest of ['', '.json', '.mv', '.mv.pid']) await rm(`${path}${rest}`, { force: true });
  }
}

/** Deletes the files that killed runs have left. */
async function removeAbandoned(jarsDir: string): Promise<void> {
  for (const name of await readdir(jarsDir)) {
    if (!name.startsWith(`${ARCHIVE}.`)) continue;
    const { mtimeMs } = await stat(join(jarsDir, name));
    if (Date.now() - mtimeMs > ABANDONED_AFTER_MS) await rm(join(jarsDir, name), { force: true });
  }
}

/** @returns the JVM's name for itself. */
async function rehearse(java: string, args: readonly string[], jarsDir: string): Promise<string> {
  const rehearsal = await startGuarded(java, args, { cwd: jarsDir });
  let jvm: string | undefined;
  let reason: string | undefined;
  rehearsal.onLine((line) => {
    const response = parseResponse(line);
    if (response?.kind === 'jvm') jvm = response.name;
    if (response?.kind === 'failed') reason = response.reason;
    if (response?.kind === 'listening') void rehearsal.stop();
  });
  const code = await rehearsal.closed;
  if (code !== 0 || jvm === undefined) {
    reason ??= rehearsal.output.stderr.trim().split('\n')[0];
    throw new Error(`its run ended with ${code}: ${reason}`);
  }
  return jvm;
}

async function describeJars(jarsDir: string): Promise<string> {
  const folder = join(jarsDir, 'jars');
  const names = (await readdir(folder)).sort();
  const described = await Promise.all(
    names.map(async (name) => {
      const { size, mtimeMs } = await stat(join(folder, name));
      // Whole seconds, as the JVM compares them.
      return `${name} ${size} ${Math.floor(mtimeMs / 1000)}`;
    }),
  );
  return described.join('\n');
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
