import { existsSync } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { type EmbeddedDatabase, EmbeddedDatabaseError } from './embedded-database.ts';
import { type GuardedProcess, startGuarded } from './guarded-process.ts';

/** A cold machine starts it in 2 s; the rest is for one that is busy with other things. */
const START_TIMEOUT_MS = 60_000;

/** True when the installer has put the server there. */
export function isInstalled(jarsDir: string): boolean {
  return existsSync(join(jarsDir, 'java.args'));
}

/**
 * Starts mongo-java-server on a free loopback port, over one file in `folder`.
 *
 * @param lockWaitMs how long a lock on the file gets to go away.
 * @throws EmbeddedDatabaseError when another process has the file, or it does not start.
 */
export async function startMongoJavaServer(
  folder: string,
  jarsDir: string,
  lockWaitMs: number,
): Promise<EmbeddedDatabase> {
  await mkdir(folder, { recursive: true });
  const file = resolve(folder, 'database.mv');
  const archive = existsSync(join(jarsDir, 'classes.jsa')) ? ['-XX:SharedArchiveFile=classes.jsa'] : [];
  const args = ['@java.args', ...archive, 'EmbeddedDatabase', file, String(lockWaitMs)];
  const process = await startGuarded('java', args, { cwd: jarsDir }).catch((error: Error) => {
    throw new EmbeddedDatabaseError(`Java could not be started: ${error.message}`);
  });
  const answer = await firstAnswer(process);
  if (answer === 'LOCKED') {
    const holder = await readFile(`${file}.pid`, 'utf8').catch(() => 'unknown');
    throw new EmbeddedDatabaseError(
      `The data folder ${folder} is in use by another database process (process ${holder}).`,
      true,
    );
  }
  const port = /^PORT (\d+)$/.exec(answer)?.[1];
  if (port === undefined) {
    await process.stop();
    throw new EmbeddedDatabaseError(
      `The embedded database did not start (${answer}): ${process.output.stderr.trim()}`,
    );
  }
  return {
    uri: `mongodb://127.0.0.1:${port}/platen?directConnection=true`,
    kind: 'mongo-java-server',
    pid: process.pid,
    ended: process.ended,
    close: () => process.stop(),
  };
}

/** The first line it prints, or how it ended without one. */
function firstAnswer(process: GuardedProcess): Promise<string> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve('no answer in time'), START_TIMEOUT_MS);
    const settle = (answer: string) => {
      clearTimeout(timer);
      resolve(answer);
    };
    process.onLine(settle);
    void process.ended.then((code) => settle(`ended with ${code}`));
  });
}
