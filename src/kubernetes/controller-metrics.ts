import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

/** Seconds: a reconciliation that writes nothing takes less than 1 ms, one that waits for the API server up to 10 s. */
const RECONCILE_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** The metrics of the controller alone; `platen_pool_demand_slots` is among those of every role. */
export function createControllerMetrics(registry: Registry) {
  const registers = [registry];
  const pool = (name: string, help: string) =>
    new Gauge({ name, help, labelNames: ['pool'] as const, registers });
  return {
    desiredReplicas: pool('platen_pool_desired_replicas', 'Workers that a pool is scaled to, by pool.'),
    replicas: pool('platen_pool_replicas', 'Workers that exist, by pool.'),
    readyReplicas: pool('platen_pool_ready_replicas', 'Workers that are ready, by pool.'),
    maxReplicas: pool('platen_pool_max_replicas', 'Workers that a pool may have, by pool.'),
    notApplied: pool(
      'platen_pool_not_applied',
      '1 while an object of a pool cannot be applied, by pool; its condition WorkersApplied has the reason.',
    ),
    hold: new Gauge({
      name: 'platen_pool_hold',
      help: '1 while a pool keeps its size whatever its demand, by pool and reason.',
      labelNames: ['pool', 'reason'] as const,
      registers,
    }),
    scaleActions: new Counter({
      name: 'platen_pool_scale_actions_total',
      help: 'Changes of the size of a pool, by pool and direction.',
      labelNames: ['pool', 'direction'] as const,
      registers,
    }),
    wrongVictims: new Counter({
      name: 'platen_wrong_victims_total',
      help: 'Workers that ended in a scale-down instead of the chosen one, by pool.',
      labelNames: ['pool'] as const,
      registers,
    }),
    managedElsewhere: new Gauge({
      name: 'platen_managed_elsewhere',
      help: 'Plans and pools of the watched namespaces that another installation manages, by kind.',
      labelNames: ['kind'] as const,
      registers,
    }),
    orphanPlans: new Gauge({
      name: 'platen_orphan_plans',
      help: 'Accounts on a plan whose RenderPlan was deleted, and whose limits stay in force for them, by plan.',
      labelNames: ['plan'] as const,
      registers,
    }),
    reconcileDuration: new Histogram({
      name: 'platen_reconcile_duration_seconds',
      help: 'Time of one reconciliation of an object, in seconds, by controller.',
      labelNames: ['controller'] as const,
      buckets: RECONCILE_BUCKETS,
      registers,
    }),
    reconcileErrors: new Counter({
      name: 'platen_reconcile_errors_total',
      help: 'Reconciliations that failed and will be repeated, by controller and reason.',
      labelNames: ['controller', 'reason'] as const,
      registers,
    }),
    watchAge: new Gauge({
      name: 'platen_watch_age_seconds',
      help: 'Time since the last message of the API server about a kind, in seconds.',
      labelNames: ['kind'] as const,
      registers,
    }),
    namespaceUnreadable: new Gauge({
      name: 'platen_namespace_unreadable',
      help: '1 while the API server does not let the leader read a watched namespace, by namespace; 0 otherwise.',
      // Prometheus has a label `namespace` of its own: where the controller runs.
      labelNames: ['watched_namespace'] as const,
      registers,
    }),
    definitionOutdated: new Gauge({
      name: 'platen_definition_outdated',
      help: '1 while the installed definition of a custom resource lacks fields that this version has, by kind; absent where it cannot be read.',
      labelNames: ['kind'] as const,
      registers,
    }),
    defaultsMissing: new Gauge({
      name: 'platen_default_resources_missing',
      help: 'Default plans and pools that the leader could not create yet.',
      registers,
    }),
    leader: new Gauge({
      name: 'platen_leader',
      help: '1 in the process that leads, 0 otherwise.',
      registers,
    }),
    demandAge: new Gauge({
      name: 'platen_demand_age_seconds',
      help: 'Age of the demand that pools are sized by, in seconds.',
      registers,
    }),
    apiCalls: new Counter({
      name: 'platen_kubernetes_calls_total',
      help: 'Calls of the Kubernetes API, by method and status (0 without a response).',
      labelNames: ['method', 'status'] as const,
      registers,
    }),
  };
}

export type ControllerMetrics = ReturnType<typeof createControllerMetrics>;
