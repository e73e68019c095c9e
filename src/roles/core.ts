import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { Connection } from 'mongoose';
import { type Config, type JobRole, mirrorsPlans } from '../config/config.ts';
import { systemClock } from '../infra/clock.ts';
import type * as infra from '../infra/core.ts';
import type { EmbeddedDatabase } from '../infra/embedded-database/embedded-database.ts';
import { createFolderOutputStore } from '../infra/outputs/folder.ts';
import { createGridFsOutputStore } from '../infra/outputs/gridfs.ts';
import type { OutputStore } from '../infra/outputs/output-store.ts';
import { withRecentOutputs } from '../infra/outputs/recent.ts';
import { mongodbCertificate } from '../infra/store/client-certificate.ts';
import { ensureIndexes } from '../infra/store/collection-spec.ts';
import { connectDatabase, flushDatabase, pingDatabase } from '../infra/store/connection.ts';
import { createLogger, type Logger } from '../infra/telemetry/logger.ts';
import { openTracing } from '../infra/tracing/open-tracing.ts';
import type { Tracing } from '../infra/tracing/tracing.ts';
import { AccountPlans } from '../tenants/accounts/account-plans.ts';
import { AccountStore } from '../tenants/accounts/account-store.ts';
import { openMirroredPlans } from '../tenants/plans/mirrored-plans.ts';
import type { NamedPlan } from '../tenants/plans/plan.ts';
import { PlanMirror } from '../tenants/plans/plan-mirror.ts';
import type { PlanSource } from '../tenants/plans/plan-source.ts';
import { openPlanSource } from '../tenants/plans/watched-plans.ts';
import { openUsage, type Usage } from '../tenants/usage/open-usage.ts';
import { openWork, type Work } from '../work/open-work.ts';
import { PoolSlots } from '../work/pools/pool-slots.ts';
import { WorkerRegistry } from '../work/pools/worker-registry.ts';
import { checkLayout } from './data-layout/data-layout.ts';
import { createMetrics, type Metrics } from './metrics.ts';
import { openBus } from './open-bus.ts';
import type { Closers } from './process/component.ts';
import { startDescriptorWatch } from './process/descriptor-watch.ts';
import { recordBus } from './process/record-bus.ts';
import { startSecretWatch } from './process/secret-watch.ts';
import { recordDatabase } from './record-database.ts';

/** What a process has before it reaches its database. */
export interface Base {
  readonly role: JobRole;
  readonly config: Config;
  /** Names this process in logs and leases. */
  readonly instance: string;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly tracing: Tracing;
  /** Aborts when the process is told to stop. */
  readonly stopped: AbortSignal;
}

/** The components that every role needs: the database, the bus, accounts with their plans, and the work of accounts. */
export interface Core extends Base, infra.Core, Work {
  readonly plans: PlanSource;
  readonly accounts: AccountStore;
  readonly accountPlans: AccountPlans;
  /** The present plan of an account. */
  readonly planOf: (accountId: string) => Promise<NamedPlan>;
  readonly usage: Usage;
  /** The start of absolute addresses; in a process that serves the API known once it listens. */
  readonly address: { publicUrl: string | undefined };
  /** Why nothing more can be stored at present, such as a full disk: no new work is taken then. */
  readonly storageProblem: () => string | undefined;
  /** Whether changes can be kept. Only a process with an embedded database knows: another database answers for itself. */
  readonly changes: {
    readonly problem: () => string | undefined;
    readonly flush: () => Promise<void>;
  };
}

/** The database of the process. */
export interface Database {
  readonly uri: string;
  /** Present for one that the process has started itself, on its own disk. */
  readonly embedded?: Pick<EmbeddedDatabase, 'problem' | 'writesBehind'>;
}

/** Opens what needs nothing else to respond; `closers` closes it. */
export async function openBase(
  role: JobRole,
  config: Config,
  stopped: AbortSignal,
  closers: Closers,
): Promise<Base> {
  const instance = `${hostname()}-${randomUUID().slice(0, 8)}`;
  const logger = createLogger({ level: config.PLATEN_LOG_LEVEL, role, instance });
  const tracing = await openTracing(config, { role, instance, logger });
  closers.add(() => tracing.stop());
  const metrics = createMetrics(role, { exemplars: tracing.on });
  startSecretWatch(config, metrics, logger, closers);
  startDescriptorWatch(logger, closers);
  return { role, config, instance, logger, metrics, tracing, stopped };
}

/**
 * Opens the core; `closers` closes what was opened.
 *
 * @throws when the database does not respond or has a layout of another version, or the plans file is not valid; the reason
 * of `stopped` when the process is told to stop while it waits for the database, a migration or an index.
 */
export async function openCore(base: Base, database: Database, closers: Closers): Promise<Core> {
  const { role, config, logger, metrics, stopped } = base;
  const clock = systemClock;
  // Errors of a file are reported before the database is queried.
  const plansOfFile = await openPlanSource(config.PLATEN_PLANS_FILE, {
    logger,
    onChecked: (valid) => metrics.plansFileValid.set(valid ? 1 : 0),
  });
  const connection = await connectDatabase(database.uri, logger, await mongodbCertificate(config), stopped);
  closers.add(() => connection.close());
  await checkLayout(connection, logger, stopped);
  const plans = mirrorsPlans(role, config)
    ? await openMirroredPlans(new PlanMirror(connection), logger)
    : plansOfFile;
  const registry = new WorkerRegistry(connection, clock);
  const bus = await openBus(role, config, logger, registry.lanes);
  closers.add(() => bus.close());
  recordBus(metrics, bus);
  recordDatabase(metrics, connection);
  const accounts = new AccountStore(connection, clock);
  const accountPlans = new AccountPlans(accounts, plans);
  const usage: Usage = openUsage(
    { connection, clock, logger },
    {
      quotaLeft: (...of) => work.jobs.blockLedger.left(...of),
      readUncounted: (ids) => work.jobs.ledgerUsage.read(ids),
    },
  );
  const planOf = (accountId: string) => accountPlans.planOf(accountId);
  const work: Work = openWork({
    ...{ connection, bus, clock, logger, usage, planOf, registry },
    slotsPerWorker: (pool) =>
      plans.pool(pool)?.slotsPerWorker ?? poolSlots?.of(pool) ?? config.PLATEN_WORKER_SLOTS,
    observeEnd: (job) =>
      metrics.jobsEnded.inc({ state: job.state, class: job.class, code: job.error?.code ?? 'none' }),
  });
  // Standalone is the only worker of its jobs.
  const poolSlots = role === 'standalone' ? undefined : new PoolSlots(registry);
  const outputs = await openOutputs(base, connection, closers);
  const { embedded } = database;
  const storageProblem = () => embedded?.problem() ?? outputs.problem();
  await ensureIndexes(connection, stopped);
  closers.add(async () => {
    await work.flush();
    await usage.flush();
  });
  plans.start();
  closers.add(() => plans.stop());
  return {
    ...base,
    ...work,
    ...{ clock, connection, bus, outputs, storageProblem },
    ...{ plans, accounts, accountPlans, planOf, usage },
    address: { publicUrl: config.PLATEN_PUBLIC_URL },
    changes: {
      problem: embedded === undefined ? () => undefined : storageProblem,
      flush: embedded?.writesBehind ? () => flushDatabase(connection) : async () => {},
    },
  };
}

/** Names what keeps the core from working. The bus only notifies: health.ts handles its problems. */
export async function coreProblems({ connection, storageProblem, logger }: Core): Promise<string[]> {
  const problems: string[] = [];
  try {
    await pingDatabase(connection);
  } catch (error) {
    logger.warn({ err: error }, 'the database does not respond');
    problems.push(`database: ${(error as Error).message}`);
  }
  const noRoom = storageProblem();
  if (noRoom !== undefined) problems.push(noRoom);
  return problems;
}

/** @throws when the bucket of S3 cannot be used, and says why. */
async function openOutputs(
  { role, config, logger }: Base,
  connection: Connection,
  closers: Closers,
): Promise<OutputStore> {
  const kind = config.PLATEN_OUTPUT_STORE ?? (role === 'standalone' ? 'folder' : 'gridfs');
  if (kind === 'gridfs') return recentIn(role, createGridFsOutputStore(connection));
  if (kind === 'folder')
    return recentIn(role, createFolderOutputStore(join(config.PLATEN_DATA_DIR, 'outputs')));
  // Its packages take a while to load, and nobody else needs them.
  const { createS3OutputStore } = await import('../infra/outputs/s3/s3.ts');
  const takesWork = role === 'api' || role === 'standalone';
  const store = createS3OutputStore(config, { logger, probes: takesWork });
  closers.add(() => store.close());
  await store.check();
  return recentIn(role, store);
}

/** None of the other roles both writes and reads outputs. */
function recentIn(role: JobRole, store: OutputStore): OutputStore {
  return role === 'standalone' ? withRecentOutputs(store) : store;
}
