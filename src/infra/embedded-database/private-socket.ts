import { chmod, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { EmbeddedDatabaseError } from './embedded-database.ts';

/** The longest path of a socket in bytes that every system allows: macOS has 104 with the final zero, Linux 108. */
const MAX_PATH_BYTES = 103;
const FOLDER_PREFIX = 'socket-';
/** Longer than any start takes, in milliseconds. */
const ABANDONED_AFTER_MS = 600_000;

/** A Unix domain socket that is to be made, in a folder that no other user of the machine may enter. */
export interface PrivateSocket {
  readonly path: string;
  /** Connection string of the database that listens there, with the database name `platen`. */
  readonly uri: string;
  remove(): Promise<void>;
}

/**
 * Makes a new folder for the socket of a database. It is a new one for each start, because a database that finds its
 * data in use must not take the socket of the one that uses it.
 *
 * @param name of the socket; it has to end with `.sock`.
 * @param folder the folder of the database's files. Without it, and where no socket can be in it because its path is too
 * long or its file system has no sockets, the new folder is in the one for temporary files.
 * @throws EmbeddedDatabaseError when no socket can be made.
 */
export async function makePrivateSocket(name: string, folder?: string): Promise<PrivateSocket> {
  const reasons: string[] = [];
  const temporary = join(tmpdir(), 'platen-');
  for (const prefix of folder === undefined
    ? [temporary]
    : [join(resolve(folder), FOLDER_PREFIX), temporary]) {
    try {
      return await makeIn(prefix, name);
    } catch (error) {
      reasons.push((error as Error).message);
    }
  }
  throw new EmbeddedDatabaseError(`no socket can be made for it (${reasons.join('; ')})`);
}

/**
 * Deletes the folders that killed databases have left. Another start may be waiting for the data at this moment, and
 * needs its folder: only those are deleted whose socket nobody listens to, and old ones without a socket.
 */
export async function removeDeadSockets(folder: string, name: string): Promise<void> {
  const found = (await readdir(folder)).filter((entry) => entry.startsWith(FOLDER_PREFIX));
  await Promise.all(
    found.map(async (entry) => {
      const other = join(resolve(folder), entry);
      // What cannot be deleted is of another user, and does no harm.
      if (await isDead(other, name)) await rm(other, { recursive: true, force: true }).catch(() => {});
    }),
  );
}

async function isDead(folder: string, name: string): Promise<boolean> {
  const reason = await new Promise<string | undefined>((done) => {
    const socket = connect(join(folder, name))
      .once('connect', () => {
        socket.destroy();
        done(undefined);
      })
      .once('error', (error: NodeJS.ErrnoException) => done(error.code));
  });
  if (reason !== 'ENOENT') return reason === 'ECONNREFUSED';
  const made = await stat(folder).catch(() => undefined);
  return made !== undefined && Date.now() - made.mtimeMs > ABANDONED_AFTER_MS;
}

async function makeIn(prefix: string, name: string): Promise<PrivateSocket> {
  // For its owner alone, whatever the umask is.
  const folder = await mkdtemp(prefix);
  const path = join(folder, name);
  const remove = () => rm(folder, { recursive: true, force: true });
  try {
    await chmod(folder, 0o700);
    await tryToListen(path);
  } catch (error) {
    await remove();
    throw error;
  }
  return { path, uri: `mongodb://${encodeURIComponent(path)}/platen?directConnection=true`, remove };
}

/** @throws the reason why nothing can listen there. */
async function tryToListen(path: string): Promise<void> {
  const bytes = Buffer.byteLength(path);
  if (bytes > MAX_PATH_BYTES)
    throw new Error(`a path of ${bytes} bytes is too long: at most ${MAX_PATH_BYTES} are allowed`);
  // mongod takes a path with one for two addresses.
  if (path.includes(',')) throw new Error('a path with a comma cannot be listened on');
  const server = createServer();
  await new Promise<void>((done, fail) => server.once('error', fail).listen(path, done));
  await new Promise((done) => server.close(done));
}
