import { type Config, type JobRole, opsPortOf, servesAdmin } from '../config/config.ts';
import { startEmbeddedDatabase } from '../infra/embedded-database/start-embedded.ts';
import { Offers } from '../infra/outputs/offers/offers.ts';
import { sandboxProcesses } from '../infra/scheduling/sandbox-processes.ts';
import { createLogger, type Logger } from '../infra/telemetry/logger.ts';
import { createTemplateEngine, type TemplateEngine } from '../tenants/templates/engine/template-engine.ts';
import { type Base, type Core, type Database, openBase, openCore } from './core.ts';
import { Closers, type Component } from './process/component.ts';
import { type HealthChecks, healthFromStart, type LifePhase } from './process/health-checks.ts';
import { startOpsServer } from './process/http-server.ts';
import { printLine } from './process/print-line.ts';
import { healthOf } from './role-health.ts';
import { type AdminServer, serveAdmin } from './serve-admin.ts';
import type { Services } from './services.ts';
import { announceDatabase, type FirstKey, firstAccount, standaloneSecret } from './standalone-data.ts';

/** Templates render in a short time: one in four renders at most has its template rendered at a time. */
const SLOTS_PER_TEMPLATE_PROCESS = 4;

export interface RunningRole {
  readonly port: number;
  readonly logger: Logger;
  /** Standalone without a bootstrap account: the file with the first key, and the key if it is new. */
  readonly firstKey: FirstKey | undefined;
  stop(): Promise<void>;
}

interface Starting {
  readonly core: Core;
  readonly closers: Closers;
  /** Runs a component until the process stops. */
  add<C extends Component>(component: C): C;
  /** The checks behind the operations routes. */
  readonly checks: HealthChecks;
  /** The port of the server of operations, where the role has one. */
  readonly opsPort: number | undefined;
  /** Where this process serves the administration: what it serves, once `admin.open` was called. */
  readonly admin: AdminServer | undefined;
  /** The PDFs that a worker offers to the processes that wait for them; absent where that would gain nothing. */
  readonly offers: Offers | undefined;
}

/**
 * The components of each role, besides the core. Components stop in the reverse order of their start: the server of the
 * API before all others, and a separate server of operations after them. A role loads only the code of its own
 * components: the code of the others, mainly clients of browsers and of payments, takes about 30 MB.
 */
const ROLES: Readonly<
  Record<JobRole, (starting: Starting) => Promise<Pick<RunningRole, 'port' | 'firstKey'>>>
> = {
  async api(starting) {
    return addApi(starting, openTemplates(starting), await openShared(starting));
  },
  async worker(starting) {
    const { startWorker } = await import('./worker.ts');
    starting.add(await startWorker(starting.core, openTemplates(starting), starting.offers));
    return onlyOperations(starting);
  },
  async dispatcher(starting) {
    const { startDispatcher } = await import('./dispatcher.ts');
    starting.add(await startDispatcher(starting.core, await openShared(starting)));
    return onlyOperations(starting);
  },
  async standalone(starting) {
    const { core, add } = starting;
    const templates = openTemplates(starting);
    const services = await openShared(starting);
    const { startDispatcher } = await import('./dispatcher.ts');
    const { startWorker } = await import('./worker.ts');
    add(await startDispatcher(core, services));
    add(await startWorker(core, templates));
    return addApi(starting, templates, services);
  },
};

/**
 * Starts a role; when it resolves the role can take work. If a step fails, everything started before is stopped again.
 *
 * @param onLost called when something has ended that the role depends on; that alone does not stop the role.
 * @param stopped aborts when the process is told to stop: what the start then waits for is waited for no more.
 */
export async function runRole(
  role: JobRole,
  config: Config,
  onLost: (error: Error) => void,
  stopped: AbortSignal = new AbortController().signal,
): Promise<RunningRole> {
  const closers = new Closers();
  try {
    const base = await openBase(role, config, stopped, closers);
    const checks = healthFromStart();
    // First of all, and last to be stopped: a process that waits for a migration is alive.
    const admin = servesAdmin(role, config) ? await serveAdmin(config.PLATEN_ADMIN_TOKEN!) : undefined;
    // Other stores are nearer, and standalone has the last PDFs in its memory.
    const offers = role === 'worker' && config.PLATEN_OUTPUT_STORE === 's3' ? new Offers() : undefined;
    const opsPort = hasOpsServer(role, config)
      ? await openOpsServer(base, checks, { admin, offers }, closers)
      : undefined;
    const database =
      config.MONGODB_URI === undefined
        ? await openEmbedded(config, closers, onLost)
        : { uri: config.MONGODB_URI };
    const core = await openCore(base, database, closers);
    const components: Component[] = [];
    const add = <C extends Component>(component: C): C => {
      components.push(component);
      closers.add(() => component.stop());
      return component;
    };
    let phase: LifePhase = 'starting';
    checks.startedAs(healthOf(core, components, () => phase));
    const started = await ROLES[role]({ core, closers, add, checks, opsPort, admin, offers });
    phase = 'running';
    return {
      ...started,
      logger: core.logger,
      stop() {
        phase = 'stopping';
        return closers.closeAll();
      },
    };
  } catch (error) {
    await closers.closeAll();
    throw error;
  }
}

async function addApi(
  { core, add, checks, admin }: Starting,
  templateEngine: TemplateEngine,
  services: Services,
): Promise<Pick<RunningRole, 'port' | 'firstKey'>> {
  const { config } = core;
  const secret = config.PLATEN_SECRET ?? (await standaloneSecret(config.PLATEN_DATA_DIR));
  const { openApi } = await import('../http/open-api.ts');
  const { startApi } = await import('./api.ts');
  const { bootstrapAccount } = await import('./bootstrap-account.ts');
  await bootstrapAccount({ ...core, ...services }, config);
  const firstKey =
    core.role === 'standalone' && config.PLATEN_BOOTSTRAP_EMAIL === undefined
      ? await firstAccount({ ...core, ...services })
      : undefined;
  const { wayOutOf } = await import('./way-out.ts');
  const api = await openApi(core, { ...services, secret, templateEngine, checks, wayOut: wayOutOf(config) });
  await admin?.open(core, api.deps, services);
  const { port } = add(await startApi(core, api));
  return { port, firstKey };
}

/** Whether operations have a server of their own: a role without an API has no other one. */
function hasOpsServer(role: JobRole, config: Config): boolean {
  const hasApi = role === 'api' || role === 'standalone';
  return !hasApi || opsPortOf(role, config) !== config.PORT;
}

async function openOpsServer(
  base: Base,
  checks: HealthChecks,
  served: { readonly admin: AdminServer | undefined; readonly offers: Offers | undefined },
  closers: Closers,
): Promise<number> {
  const server = await startOpsServer(base, checks, served);
  closers.add(() => server.stop());
  return server.port;
}

function onlyOperations({ opsPort = 0 }: Starting): Pick<RunningRole, 'port' | 'firstKey'> {
  return { port: opsPort, firstKey: undefined };
}

/** One engine for all components of the process. */
function openTemplates({ core, closers }: Starting): TemplateEngine {
  const { role, config, logger } = core;
  // The API only renders previews.
  const slots = role === 'api' ? 1 : config.PLATEN_WORKER_SLOTS;
  const processes = sandboxProcesses(slots, SLOTS_PER_TEMPLATE_PROCESS);
  const engine = createTemplateEngine({ processes, logger });
  closers.add(() => engine.close());
  return engine;
}

/** The same services for all components of the process. */
async function openShared({ core, closers }: Starting): Promise<Services> {
  const { openServices } = await import('./services.ts');
  const services = await openServices(core);
  closers.add(() => services.tenants.recovery.flush());
  return services;
}

async function openEmbedded(
  config: Config,
  closers: Closers,
  onLost: (error: Error) => void,
): Promise<Database> {
  // The secret marks its data folder as that of a standalone.
  await standaloneSecret(config.PLATEN_DATA_DIR);
  const logger = createLogger({ level: config.PLATEN_LOG_LEVEL, role: 'standalone', instance: 'database' });
  const database = await startEmbeddedDatabase({
    dataDir: config.PLATEN_DATA_DIR,
    logger,
    engine: config.PLATEN_EMBEDDED,
    jarsDir: config.PLATEN_EMBEDDED_JARS,
    fetch: { report: (line) => printLine(`[database] ${line}`) },
  });
  let closing = false;
  closers.add(() => {
    closing = true;
    return database.close();
  });
  void database.ended.then((how) => {
    if (!closing) onLost(new Error(`the embedded database (process ${database.pid}) has ended with ${how}`));
  });
  closers.add(await announceDatabase(config.PLATEN_DATA_DIR, database.uri));
  return { uri: database.uri, embedded: database };
}
