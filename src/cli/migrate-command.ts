import type { Connection } from 'mongoose';
import { loadConfig } from '../config/config.ts';
import { mongodbCertificate } from '../infra/store/client-certificate.ts';
import { connectDatabase } from '../infra/store/connection.ts';
import { createLogger } from '../infra/telemetry/logger.ts';
import { checkLayout, LAYOUT, LayoutError } from '../roles/data-layout/data-layout.ts';
import { CommandError } from './command-error.ts';
import { giveHelp, misused } from './command-line.ts';

const USAGE = `usage: platen migrate

Migrates the data in the database of MONGODB_URI to the layout of this version, as the first process of a role does when it
starts. If another process is migrating, it waits. If the data already has that layout, it changes nothing.`;

/** @param options.signal ends it at once; repeated, it goes on. @throws CommandError with a message for the user. */
export async function runMigrateCommand(
  argv: readonly string[],
  environment: NodeJS.ProcessEnv,
  { signal }: { readonly signal: AbortSignal },
): Promise<void> {
  giveHelp(argv, USAGE);
  if (argv.length > 0) throw misused(`${argv[0]}: there is no such argument.`, USAGE);
  const config = loadConfig('standalone', environment);
  const { MONGODB_URI: uri, PLATEN_LOG_LEVEL: level } = config;
  if (uri === undefined) {
    throw new CommandError(
      'MONGODB_URI is required. An embedded database is migrated by the standalone that has it.',
    );
  }
  const logger = createLogger({ level, role: 'migrate', instance: 'migrate' });
  let connection: Connection | undefined;
  try {
    connection = await connectDatabase(uri, logger, await mongodbCertificate(config), signal);
    await checkLayout(connection, logger, signal);
    logger.info({ layout: LAYOUT }, 'the data has the layout of this version');
  } catch (error) {
    if (signal.aborted) throw new CommandError('The migration was interrupted; started again, it goes on.');
    if (error instanceof LayoutError) throw new CommandError(error.message);
    if (connection === undefined)
      throw new CommandError(`The database cannot be reached: ${(error as Error).message}`);
    throw error;
  } finally {
    await connection?.close();
  }
}
