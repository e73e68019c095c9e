import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { Connection } from 'mongoose';
import { AccountPlans } from '../accounts/account-plans.ts';
import { AccountStore } from '../accounts/account-store.ts';
import type { Bus } from '../bus/bus.ts';
import { systemClock } from '../clock.ts';
import type { Config, Role } from '../config.ts';
import { KeyStore } from '../keys/key-store.ts';
import { openPlanSource } from '../plans/watched-plans.ts';
import { connectDatabase, ensureIndexes } from '../store/connection.ts';
import { createFolderOutputStore } from '../store/outputs/folder.ts';
import { createGridFsOutputStore } from '../store/outputs/gridfs.ts';
import { withRecentOutputs } from '../store/outputs/recent.ts';
import { createLogger } from '../telemetry/logger.ts';
import { createMetrics } from '../telemetry/metrics.ts';
import { TemplateStore } from '../templates/template-store.ts';
import { createAccountServices } from './account-services.ts';
import { createJobServices } from './job-services.ts';

/** What is the same in every role: the database and what is kept in it, the bus, and how jobs are set going. */
export type Platform = Awaited<ReturnType<typeof openPlatform>>;

/**
 * Puts the common parts together.
 *
 * @param databaseProblem of an embedded database: why it cannot write at present.
 * @param openBus called once the logger is there; the platform closes the bus.
 * @throws when the database does not answer, or the plans file is not valid.
 */
export async function openPlatform(
  role: Role,
  config: Config,
  mongodbUri: string,
  openBus: (logger: ReturnType<typeof createLogger>) => Bus | Promise<Bus>,
  databaseProblem: () => string | undefined,
) {
  const instance = `${hostname()}-${randomUUID().slice(0, 8)}`;
  const logger = createLogger({ level: config.PLATEN_LOG_LEVEL, role, instance });
  const clock = systemClock;
  const metrics = createMetrics(role);
  const plans = await openPlanSource(config.PLATEN_PLANS_FILE, {
    logger,
    onChecked: (valid) => metrics.plansFileValid.set(valid ? 1 : 0),
  });
  const connection = await connectDatabase(mongodbUri, logger);

  const bus = await openBus(logger);
  const accounts = new AccountStore(connection, clock);
  const keys = new KeyStore(connection, clock);
  const accountPlans = new AccountPlans(accounts, plans);
  const planOf = async (accountId: string) => (await accountPlans.planOf(accountId)).plan;
  const accountServices = createAccountServices(connection, {
    accounts,
    keys,
    plans,
    clock,
    logger,
    config,
  });
  const jobServices = createJobServices(connection, {
    bus,
    clock,
    logger,
    planOf,
    slotsPerWorker: config.PLATEN_WORKER_SLOTS,
    onEnded: (job) =>
      metrics.jobsEnded.inc({ state: job.state, class: job.class, code: job.error?.code ?? 'none' }),
  });
  const templates = new TemplateStore(connection, clock);
  await ensureIndexes(connection);
  const outputs = openOutputs(role, config, connection);
  plans.start();
  return {
    role,
    config,
    instance,
    logger,
    clock,
    metrics,
    plans,
    connection,
    ...jobServices,
    accounts,
    accountPlans,
    accountServices,
    keys,
    templates,
    planOf,
    outputs,
    /** Why nothing more can be kept at present, a full disk above all: no new work is taken then. */
    storageProblem: () => databaseProblem() ?? outputs.problem(),
    /** Closes what was opened, last first. */
    async close(): Promise<void> {
      await plans.stop();
      await jobServices.flush();
      await bus.close();
      await connection.close();
    },
  };
}

/** Names what keeps the common parts from working. */
export async function platformProblems(platform: Platform): Promise<string[]> {
  const problems: string[] = [];
  try {
    await platform.connection.db?.command({ ping: 1 }, { timeoutMS: 2000 });
  } catch (error) {
    problems.push(`database: ${(error as Error).message}`);
  }
  const storageProblem = platform.storageProblem();
  if (storageProblem !== undefined) problems.push(storageProblem);
  const busProblem = platform.bus.problem();
  if (busProblem !== undefined) problems.push(`bus: ${busProblem}`);
  return problems;
}

function openOutputs(role: Role, config: Config, connection: Connection) {
  const kind = config.PLATEN_OUTPUT_STORE ?? (role === 'standalone' ? 'folder' : 'gridfs');
  const store =
    kind === 'folder'
      ? createFolderOutputStore(join(config.PLATEN_DATA_DIR, 'outputs'))
      : createGridFsOutputStore(connection);
  // Of the other roles, none both puts and gets.
  return role === 'standalone' ? withRecentOutputs(store) : store;
}
