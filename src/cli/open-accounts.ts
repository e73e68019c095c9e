import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../config/config.ts';
import { systemClock } from '../infra/clock.ts';
import { EmbeddedDatabaseError, startEmbeddedDatabase } from '../infra/embedded-database/start-embedded.ts';
import { mongodbCertificate } from '../infra/store/client-certificate.ts';
import { ensureIndexes } from '../infra/store/collection-spec.ts';
import { connectDatabase, flushDatabase } from '../infra/store/connection.ts';
import { createLogger, type Logger } from '../infra/telemetry/logger.ts';
import { checkLayout, LayoutError } from '../roles/data-layout/data-layout.ts';
import { announcedDatabase } from '../roles/standalone-data.ts';
import { AccountStore } from '../tenants/accounts/account-store.ts';
import { openTenants, type Tenants } from '../tenants/open-tenants.ts';
import { openMirroredPlans } from '../tenants/plans/mirrored-plans.ts';
import { PlanMirror } from '../tenants/plans/plan-mirror.ts';
import type { PlanSource } from '../tenants/plans/plan-source.ts';
import { openPlanSource } from '../tenants/plans/watched-plans.ts';
import { CommandError } from './command-error.ts';

export interface OpenAccounts
  extends Pick<Tenants, 'accounts' | 'accountService' | 'keyService' | 'takeover' | 'invitations'> {
  close(): Promise<void>;
}

/**
 * Opens the database of MONGODB_URI. If that is not set, opens the embedded database of the data folder, or connects to
 * it when a running standalone Platen has it open.
 *
 * @throws CommandError when no database can be opened, or the plans file is invalid.
 */
export async function openAccounts(config: Config): Promise<OpenAccounts> {
  // Without a log, because stdout is for the command's result.
  const logger = createLogger({ level: 'silent', role: 'accounts', instance: 'accounts' });
  const plansOfFile = await openPlans(config.PLATEN_PLANS_FILE, logger);
  const database =
    config.MONGODB_URI === undefined
      ? await openEmbedded(config, logger)
      : { uri: config.MONGODB_URI, shared: false, close: async () => {} };
  try {
    const connection = await connectDatabase(database.uri, logger, await mongodbCertificate(config));
    await checkLayout(connection, logger);
    // The embedded database has no mirror, so the built-in plans apply.
    const plans =
      config.PLATEN_PLANS_FILE === undefined
        ? await openMirroredPlans(new PlanMirror(connection), logger)
        : plansOfFile;
    const accounts = new AccountStore(connection, systemClock);
    const tenants = openTenants({ connection, clock: systemClock, logger, config, plans, accounts });
    await ensureIndexes(connection);
    return {
      ...tenants,
      async close() {
        try {
          if (database.shared) await flushDatabase(connection);
        } catch (error) {
          throw new CommandError(`What was changed is not certain to be kept: ${(error as Error).message}`);
        } finally {
          await connection.close();
          await database.close();
        }
      },
    };
  } catch (error) {
    await database.close();
    if (error instanceof LayoutError) throw new CommandError(error.message);
    throw new CommandError(`The database cannot be reached: ${(error as Error).message}`);
  }
}

async function openPlans(path: string | undefined, logger: Logger): Promise<PlanSource> {
  try {
    return await openPlanSource(path, { logger });
  } catch (error) {
    throw new CommandError((error as Error).message);
  }
}

async function openEmbedded(config: Config, logger: Logger) {
  const dataDir = config.PLATEN_DATA_DIR;
  if (!existsSync(join(dataDir, 'secret'))) {
    throw new CommandError(
      `MONGODB_URI is not set, and ${dataDir} holds no data of a standalone Platen (PLATEN_DATA_DIR says where it is).`,
    );
  }
  const announced = await announcedDatabase(dataDir);
  const lockWaitMs = announced === undefined ? undefined : 0;
  try {
    const { PLATEN_EMBEDDED: engine, PLATEN_EMBEDDED_JARS: jarsDir } = config;
    const database = await startEmbeddedDatabase({ dataDir, logger, engine, jarsDir, lockWaitMs });
    // Its end writes everything.
    return { uri: database.uri, shared: false, close: () => database.close() };
  } catch (error) {
    if (!(error instanceof EmbeddedDatabaseError)) throw error;
    // The process that has the data open has announced the address. The database ends with that process, not with this
    // one.
    if (error.inUse && announced !== undefined)
      return { uri: announced, shared: true, close: async () => {} };
    throw new CommandError(
      `The embedded database in ${dataDir} cannot be opened: ${error.message}\n` +
        'One process can have it open at a time. While a standalone Platen runs, other processes use its database.',
    );
  }
}
