import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Connection } from 'mongoose';
import type { Config } from '../config/config.ts';
import { backoffMs } from '../infra/async/backoff.ts';
import { systemClock } from '../infra/clock.ts';
import { EventRecorder } from '../infra/kube/client/event-recorder.ts';
import type { KubernetesApi } from '../infra/kube/client/kubernetes-api.ts';
import { openKubernetesApi } from '../infra/kube/client/open-kubernetes-api.ts';
import { LeaderElection } from '../infra/kube/leader/leader-election.ts';
import { keepHeapSmall } from '../infra/overload/heap-growth.ts';
import { mongodbCertificate } from '../infra/store/client-certificate.ts';
import { ensureIndexes } from '../infra/store/collection-spec.ts';
import { connectDatabase, pingDatabase } from '../infra/store/connection.ts';
import { createLogger, type Logger } from '../infra/telemetry/logger.ts';
import { MetricTarget } from '../infra/telemetry/metrics.ts';
import { Controller } from '../kubernetes/controller.ts';
import { type ControllerMetrics, createControllerMetrics } from '../kubernetes/controller-metrics.ts';
import {
  type DefaultResources,
  makeDefaultResources,
  parseDefaultResources,
} from '../kubernetes/default-resources.ts';
import { watchDefinitions } from '../kubernetes/definition-watch.ts';
import { keepLinkSecret, parseLinkSecret } from '../kubernetes/link-secret.ts';
import { TemplateFile } from '../kubernetes/pools/template-file.ts';
import { type Installation, installationOf } from '../kubernetes/resources/installation.ts';
import { AccountPlans } from '../tenants/accounts/account-plans.ts';
import { AccountStore } from '../tenants/accounts/account-store.ts';
import { openMirroredPlans } from '../tenants/plans/mirrored-plans.ts';
import { PlanMirror } from '../tenants/plans/plan-mirror.ts';
import { AccountLoads } from '../work/jobs/account-loads.ts';
import { readPoolDemand } from '../work/jobs/demand.ts';
import { LedgerLoads } from '../work/jobs/ledger/ledger-loads.ts';
import { openLedgers } from '../work/jobs/ledger/ledger-record.ts';
import { WorkerRegistry } from '../work/pools/worker-registry.ts';
import { checkLayout } from './data-layout/data-layout.ts';
import { createMetrics, type Metrics } from './metrics.ts';
import { Closers } from './process/component.ts';
import { startDescriptorWatch } from './process/descriptor-watch.ts';
import { healthFromStart } from './process/health-checks.ts';
import { startOpsServer } from './process/http-server.ts';
import { startSecretWatch } from './process/secret-watch.ts';
import type { RunningRole } from './run-role.ts';

/** The components that the controller uses besides the API server. */
interface Deps {
  readonly config: Config;
  readonly connection: Connection;
  readonly api: KubernetesApi;
  readonly metrics: Metrics;
  readonly controllerMetrics: ControllerMetrics;
  readonly logger: Logger;
  readonly namespace: string;
  /** The namespaces whose plans and pools the controller manages. */
  readonly watched: readonly string[];
  readonly installation: Installation;
}

/** How soon the creation of default resources is tried again, in milliseconds: the first and the longest pause. */
const DEFAULTS_AGAIN_MS = 2000;
const DEFAULTS_AGAIN_MAX_MS = 60_000;

/**
 * Starts a controller. It runs for election at once, and works when it leads.
 *
 * @param onLost called when it led and leads no more: the process has to end, since another one works from then on.
 * @param stopSignal aborts when the process is told to stop: what the start then waits for is waited for no more.
 */
export async function startController(
  config: Config,
  onLost: (error: Error) => void,
  stopSignal: AbortSignal,
): Promise<RunningRole> {
  keepHeapSmall();
  const closers = new Closers();
  try {
    return await start(config, closers, onLost, stopSignal);
  } catch (error) {
    await closers.closeAll();
    throw error;
  }
}

async function start(
  config: Config,
  closers: Closers,
  onLost: (error: Error) => void,
  stopSignal: AbortSignal,
): Promise<RunningRole> {
  const { POD_NAME: instance = '', POD_NAMESPACE: namespace = '' } = config;
  const logger = createLogger({ level: config.PLATEN_LOG_LEVEL, role: 'controller', instance });
  const metrics = createMetrics('controller');
  startSecretWatch(config, metrics, logger, closers);
  startDescriptorWatch(logger, closers);
  // Its plans come from the cluster: there is no file that could be wrong.
  metrics.plansFileValid.set(1);
  const controllerMetrics = createControllerMetrics(new MetricTarget(metrics.registry));
  const checks = healthFromStart();
  const server = await startOpsServer({ role: 'controller', config, metrics, logger }, checks);
  closers.add(() => server.stop());
  const connection = await connectDatabase(
    config.MONGODB_URI ?? '',
    logger,
    await mongodbCertificate(config),
    stopSignal,
  );
  closers.add(() => connection.close());
  await checkLayout(connection, logger, stopSignal);
  const api = await openKubernetesApi({
    userAgent: 'platen-controller',
    onCall: ({ method, status }) => controllerMetrics.apiCalls.inc({ method, status: String(status) }),
  });
  closers.add(() => api.close());
  const { PLATEN_WATCH_NAMESPACES: others, PLATEN_LEASE_NAME: lease } = config;
  const watched = others.length > 0 ? others : [namespace];
  const installation = installationOf(namespace, lease, watched);
  const deps = {
    ...{ config, connection, api, metrics, controllerMetrics, logger },
    ...{ namespace, watched, installation },
  };
  await startLinkSecret(deps, closers);

  const work = await openWork(deps, closers, stopSignal);
  const election = new LeaderElection({
    api,
    namespace,
    name: lease,
    identity: `${instance}_${crypto.randomUUID()}`,
    // The kubelet restarts a container only after its process has ended: an earlier process of this pod leads no more.
    predecessors: `${instance}_`,
    logger,
    onElected: () => {
      controllerMetrics.leader.set(1);
      work.begin().catch((error: Error) => onLost(error));
    },
    onLost: (reason) => {
      controllerMetrics.leader.set(0);
      // At once, without waiting: nothing may be written while another process leads.
      void work.stop();
      onLost(new Error(reason));
    },
  });
  controllerMetrics.leader.set(0);
  election.start();
  closers.add(() => election.stop());
  closers.add(() => work.stop());
  checks.startedAs({
    readiness: async () => {
      const problems = await databaseProblems(connection);
      return { ready: problems.length === 0, problems };
    },
    liveness: () => {
      const problem = work.stuck();
      return problem === undefined ? { live: true } : { live: false, problem };
    },
  });
  return { port: server.port, logger, firstKey: undefined, stop: () => closers.closeAll() };
}

/** Milliseconds. Demand is counted by the plans of all clusters, each second; no request asks for them. */
const PLANS_EVERY_MS = 1000;

/** The work that begins when the Lease is won. */
async function openWork(deps: Deps, closers: Closers, stopSignal: AbortSignal) {
  const { config, connection, api, logger, watched, installation, controllerMetrics, metrics } = deps;
  const mirror = new PlanMirror(connection, config.PLATEN_CLUSTER);
  const registry = new WorkerRegistry(connection, systemClock);
  const accounts = new AccountStore(connection, systemClock);
  const ledgers = new LedgerLoads(openLedgers(connection));
  await ensureIndexes(connection, stopSignal);
  const plans = await openMirroredPlans(mirror, logger, PLANS_EVERY_MS);
  plans.start();
  closers.add(() => plans.stop());
  const accountPlans = new AccountPlans(accounts, plans);
  const loads = new AccountLoads({ ledgers, plans: accountPlans, clock: systemClock });
  const template = openTemplate(config, logger);
  const events = new EventRecorder({
    api,
    logger,
    controller: 'platen.dev/controller',
    instance: config.POD_NAME ?? '',
  });
  const stopping = new AbortController();
  let controller: Controller | undefined;
  let stopped: Promise<void> | undefined;
  return {
    async begin() {
      const manifests = await readDefaults(config);
      if (stopping.signal.aborted) return;
      void makeDefaults(manifests, { ...deps, events }, stopping.signal);
      void watchDefinitions({ api, metrics: controllerMetrics, logger }, stopping.signal);
      controller = new Controller({
        api,
        installation,
        namespaces: watched,
        mirror,
        registry,
        countAccounts: (plan) => accounts.countWithPlan(plan),
        readDemand: () => readPoolDemand({ loads, workers: registry, clock: systemClock }),
        settings: () => template.settings,
        events,
        metrics: controllerMetrics,
        poolDemand: metrics.poolDemand,
        clock: systemClock,
        logger,
      });
      await template.start(() => controller?.checkAgain());
      await controller.start(stopping.signal).catch((error: unknown) => {
        if (!stopping.signal.aborted) throw error;
      });
    },
    stuck: () => controller?.stuck(),
    stop() {
      stopped ??= (async () => {
        stopping.abort(new Error('the controller stops'));
        await template.stop();
        await controller?.stop();
        await events.flush();
      })();
      return stopped;
    },
  };
}

function openTemplate(config: Config, logger: Logger): TemplateFile {
  const apiServer = config.KUBERNETES_SERVICE_HOST ?? '';
  const ofApiServer = { 0: [], 4: [`${apiServer}/32`], 6: [`${apiServer}/128`] }[isIP(apiServer)] ?? [];
  const others = {
    blockedNetworks: [...config.PLATEN_WORKER_BLOCKED_NETWORKS, ...ofApiServer],
    opsPort: 'ops',
    networkPolicies: config.PLATEN_WORKER_NETWORK_POLICIES === 'on',
  };
  return new TemplateFile(config.PLATEN_WORKER_TEMPLATE_FILE ?? '', others, logger);
}

/** Also without leading: the API waits for the Secret, and a second process changes nothing. */
async function startLinkSecret({ config, api, installation, logger }: Deps, closers: Closers): Promise<void> {
  if (config.PLATEN_LINK_SECRET_FILE === undefined) return;
  const manifest = parseLinkSecret(await readFile(config.PLATEN_LINK_SECRET_FILE, 'utf8'));
  const stopping = new AbortController();
  const kept = keepLinkSecret(manifest, { api, installation, logger }, stopping.signal);
  closers.add(async () => {
    stopping.abort();
    await kept;
  });
}

/** @throws when the file of default resources cannot be read, or is not valid. */
async function readDefaults({ PLATEN_DEFAULT_RESOURCES_FILE: path }: Config): Promise<DefaultResources> {
  return path === undefined ? [] : parseDefaultResources(await readFile(path, 'utf8'));
}

/** Tries until each is there, in the background: one that is rejected holds up nothing. Never rejects. */
async function makeDefaults(
  manifests: DefaultResources,
  { config, controllerMetrics, ...deps }: Deps & { readonly events: EventRecorder },
  signal: AbortSignal,
): Promise<void> {
  const { logger } = deps;
  const marker = `${config.PLATEN_LEASE_NAME}-made`;
  const known = new Map<string, string>();
  for (let failures = 1; !signal.aborted; failures += 1) {
    const missing = await makeDefaultResources(manifests, { ...deps, marker }, known).catch((err) => {
      logger.error({ err, marker }, 'which default resources were made is not known; it is tried again');
      return manifests.length;
    });
    controllerMetrics.defaultsMissing.set(missing);
    if (missing === 0) return;
    const waitMs = backoffMs(failures, DEFAULTS_AGAIN_MS, DEFAULTS_AGAIN_MAX_MS, Math.random);
    await sleep(waitMs, undefined, { signal }).catch(() => undefined);
  }
}

async function databaseProblems(connection: Connection): Promise<string[]> {
  try {
    await pingDatabase(connection);
    return [];
  } catch (error) {
    return [`database: ${(error as Error).message}`];
  }
}
