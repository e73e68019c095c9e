/** A spec with the field, and what it means where it does not say so itself, such as a number of bytes. */
export interface FieldExample {
  readonly spec: Readonly<Record<string, unknown>>;
  readonly meaning?: string;
}

const MIB = 1024 ** 2;
const GIB = 1024 ** 3;

/** Of each field of a spec but enumerations and truth values, by kind. The API server takes each spec as it is. */
export const FIELD_EXAMPLES: Readonly<Record<string, Readonly<Record<string, FieldExample>>>> = {
  RenderPlan: {
    monthlyRenders: { spec: { monthlyRenders: 500_000 } },
    requestsPerMinute: { spec: { requestsPerMinute: 1200 }, meaning: '20 a second on average' },
    concurrentRenders: { spec: { concurrentRenders: 60 } },
    maxInputSizeBytes: { spec: { maxInputSizeBytes: 10 * MIB }, meaning: '10 MiB' },
    maxOutputSizeBytes: { spec: { maxOutputSizeBytes: 100 * MIB }, meaning: '100 MiB' },
    maxTimeoutMs: { spec: { maxTimeoutMs: 120_000 }, meaning: '2 minutes' },
    maxActiveKeys: { spec: { maxActiveKeys: 20 } },
    maxBatchItems: { spec: { maxBatchItems: 10_000 } },
    maxWaitingJobs: { spec: { maxWaitingJobs: 20_000 } },
    maxStoredBytes: { spec: { maxStoredBytes: 50 * GIB }, meaning: '50 GiB' },
    maxTestRendersPerDay: { spec: { maxTestRendersPerDay: 1000 } },
    retentionHours: { spec: { retentionHours: 336 }, meaning: '14 days' },
    features: { spec: { features: { callbacks: true, revealIp: false } } },
    priceCentsPerMonth: { spec: { priceCentsPerMonth: 14_900 }, meaning: '$149' },
    poolRef: { spec: { poolRef: 'acme' } },
  },
  RenderPool: {
    replicas: { spec: { mode: 'Manual', replicas: 3 } },
    minReplicas: { spec: { minReplicas: 2 } },
    maxReplicas: { spec: { maxReplicas: 40 } },
    slotsPerWorker: { spec: { slotsPerWorker: 4 } },
    targetUtilisation: { spec: { targetUtilisation: 80 }, meaning: '80 %: 10 slots for 8 jobs' },
    headroomSlots: { spec: { headroomSlots: 8 } },
    maxPendingPods: { spec: { maxPendingPods: 10 } },
    fallbackReplicas: { spec: { fallbackReplicas: 3 } },
    scaleDown: {
      spec: { scaleDown: { stabilisationSeconds: 300, maxPercent: 20, periodSeconds: 60 } },
      meaning: 'a fifth of the workers a minute, once they were not wanted for 5 minutes',
    },
    workerYoungSeconds: { spec: { workerYoungSeconds: 120 }, meaning: '2 minutes' },
    terminationGracePeriodSeconds: {
      spec: { terminationGracePeriodSeconds: 20 },
      meaning: 'for spot nodes with a notice of half a minute',
    },
    strategy: {
      spec: { strategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } } },
      meaning: 'for nodes without room for one more worker',
    },
    image: { spec: { image: 'registry.example.com/team/platen:0.1.0' } },
    resources: {
      spec: { resources: { requests: { cpu: 2, memory: '2Gi' }, limits: { memory: '5Gi' } } },
    },
    nodeSelector: { spec: { nodeSelector: { pool: 'acme' } } },
    tolerations: { spec: { tolerations: [{ key: 'pool', value: 'acme', effect: 'NoSchedule' }] } },
    affinity: {
      spec: {
        affinity: {
          nodeAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: {
              nodeSelectorTerms: [
                { matchExpressions: [{ key: 'kubernetes.io/arch', operator: 'In', values: ['amd64'] }] },
              ],
            },
          },
        },
      },
    },
    topologySpreadConstraints: {
      spec: {
        topologySpreadConstraints: [
          { maxSkew: 1, topologyKey: 'topology.kubernetes.io/zone', whenUnsatisfiable: 'ScheduleAnyway' },
        ],
      },
      meaning: 'spread over zones',
    },
    runtimeClassName: { spec: { runtimeClassName: 'gvisor' } },
    priorityClassName: { spec: { priorityClassName: 'high-priority' } },
    schedulerName: { spec: { schedulerName: 'bin-packing-scheduler' } },
    hostAliases: { spec: { hostAliases: [{ ip: '10.20.0.7', hostnames: ['pictures.internal'] }] } },
    serviceAccountName: { spec: { serviceAccountName: 'acme-workers' } },
    serviceAccountAnnotations: {
      spec: {
        serviceAccountAnnotations: { 'eks.amazonaws.com/role-arn': 'arn:aws:iam::111122223333:role/platen' },
      },
    },
    env: { spec: { env: [{ name: 'PLATEN_LOCALE', value: 'de-DE' }] } },
    podLabels: { spec: { podLabels: { 'cost-centre': '4711' } } },
    podAnnotations: { spec: { podAnnotations: { 'example.com/contact': 'documents@example.com' } } },
    podSpec: { spec: { podSpec: { enableServiceLinks: false } } },
  },
};
