import type { MetricTarget } from '../infra/telemetry/metrics.ts';

/** Seconds: a reconciliation that writes nothing takes less than 1 ms, one that waits for the API server up to 10 s. */
const RECONCILE_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** The metrics of the controller alone; `platen_pool_demand_slots` is among those of every role. */
export function createControllerMetrics(target: MetricTarget) {
  return {
    desiredReplicas: target.gauge(
      'platen_pool_desired_replicas{pool}',
      'Workers that a pool is scaled to, by pool.',
    ),
    replicas: target.gauge('platen_pool_replicas{pool}', 'Workers that exist, by pool.'),
    readyReplicas: target.gauge('platen_pool_ready_replicas{pool}', 'Workers that are ready, by pool.'),
    maxReplicas: target.gauge('platen_pool_max_replicas{pool}', 'Workers that a pool may have, by pool.'),
    notApplied: target.gauge(
      'platen_pool_not_applied{pool}',
      '1 while an object of a pool cannot be applied, by pool; its condition WorkersApplied has the reason.',
    ),
    hold: target.gauge(
      'platen_pool_hold{pool,reason}',
      '1 while a pool keeps its size whatever its demand, by pool and reason.',
    ),
    scaleActions: target.counter(
      'platen_pool_scale_actions_total{pool,direction}',
      'Changes of the size of a pool, by pool and direction.',
    ),
    wrongVictims: target.counter(
      'platen_wrong_victims_total{pool}',
      'Workers that ended in a scale-down instead of the chosen one, by pool.',
    ),
    managedElsewhere: target.gauge(
      'platen_managed_elsewhere{kind}',
      'Plans and pools of the watched namespaces that another installation manages, by kind.',
    ),
    orphanPlans: target.gauge(
      'platen_orphan_plans{plan}',
      'Accounts on a plan whose RenderPlan was deleted, and whose limits stay in force for them, by plan.',
    ),
    reconcileDuration: target.histogram(
      'platen_reconcile_duration_seconds{controller}',
      'Time of one reconciliation of an object, in seconds, by controller.',
      RECONCILE_BUCKETS,
    ),
    reconcileErrors: target.counter(
      'platen_reconcile_errors_total{controller,reason}',
      'Reconciliations that failed and will be repeated, by controller and reason.',
    ),
    watchAge: target.gauge(
      'platen_watch_age_seconds{kind}',
      'Time since the last message of the API server about a kind, in seconds.',
    ),
    namespaceUnreadable: target.gauge(
      // Prometheus has a label `namespace` of its own: where the controller runs.
      'platen_namespace_unreadable{watched_namespace}',
      '1 while the API server does not let the leader read a watched namespace, by namespace; 0 otherwise.',
    ),
    definitionOutdated: target.gauge(
      'platen_definition_outdated{kind}',
      '1 while the installed definition of a custom resource lacks fields that this version has, by kind; absent where it cannot be read.',
    ),
    defaultsMissing: target.gauge(
      'platen_default_resources_missing',
      'Default plans and pools that the leader could not create yet.',
    ),
    leader: target.gauge('platen_leader', '1 in the process that leads, 0 otherwise.'),
    demandAge: target.gauge(
      'platen_demand_age_seconds',
      'Age of the demand that pools are sized by, in seconds.',
    ),
    apiCalls: target.counter(
      'platen_kubernetes_calls_total{method,status}',
      'Calls of the Kubernetes API, by method and status (0 without a response).',
    ),
  };
}

export type ControllerMetrics = ReturnType<typeof createControllerMetrics>;
