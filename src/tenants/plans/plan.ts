import { z } from 'zod';
import { DEFAULT_POOL, PLAN_OR_POOL_NAME } from './names.ts';

/** Names of plans and pools: lower case, because they are part of labels, topics and resources. */
export const nameSchema = z
  .string()
  .regex(
    PLAN_OR_POOL_NAME,
    'must be 1 to 63 lower-case letters, digits, "-" and ".", and begin and end with a letter or digit',
  );
/** In the form of `nameSchema`. The `PlanSource` knows which plans exist. */
export type PlanName = string;

/** The plan of self-registered accounts, and of accounts whose plan no longer exists. It always exists. */
export const FREE_PLAN = 'free';
const MIB = 1024 * 1024;
const GIB = 1024 * MIB;
/** An input is one record of the database, which may have 16 MiB. */
export const MAX_INPUT_BYTES = 15 * MIB;
const count = (max: number) => z.int().min(0).max(max);

/** The limits and features of a plan. The plans file and the RenderPlan resource have the same fields. */
export const planSchema = z.strictObject({
  monthlyRenders: count(1_000_000_000).describe('PDFs a month.'),
  requestsPerMinute: z.int().min(1).max(1_000_000).describe('Requests a minute, of all keys of the account.'),
  concurrentRenders: z
    .int()
    .min(1)
    .max(10_000)
    .describe('Plan slots: jobs of one account that may run at a time.'),
  maxInputSizeBytes: z.int().min(1024).max(MAX_INPUT_BYTES).describe('Largest request body, in bytes.'),
  maxOutputSizeBytes: z
    .int()
    .min(1024)
    .max(1024 * MIB)
    .describe('Largest PDF, in bytes.'),
  maxTimeoutMs: z.int().min(1000).max(300_000).describe('Longest deadline of a render, in milliseconds.'),
  maxActiveKeys: count(10_000).describe('API keys that may be active at a time.'),
  maxBatchItems: z
    .int()
    .min(2)
    .max(100_000)
    .describe('Items in one batch: 10,000 at most in one request, all of them as rows of a file.'),
  maxWaitingJobs: count(10_000_000).describe('Jobs of one account that may wait for a slot.'),
  maxStoredBytes: count(1024 ** 5).describe(
    'Storage of one account in bytes: PDFs, inputs of jobs that are not completed, templates with their versions, and records of batches and callbacks.',
  ),
  maxTestRendersPerDay: count(1_000_000_000).describe('Renders of test keys a day.'),
  retentionHours: count(24 * 366).describe(
    'How long a finished PDF is kept, in hours; 0: it is deleted once it is delivered.',
  ),
  features: z.strictObject({
    callbacks: z.boolean().describe('Whether callbacks are available.'),
    templateVersions: z.boolean().describe('Whether earlier versions of templates can be seen and restored.'),
    revealIp: z.boolean().describe('Whether the request log shows whole IP addresses.'),
  }),
  priceCentsPerMonth: count(100_000_000).describe('Price in US cents a month.'),
  poolRef: nameSchema
    .optional()
    .describe(`The pool of workers that runs the jobs of this plan; without it, ${DEFAULT_POOL}.`),
});

export type Plan = z.infer<typeof planSchema>;

/** A plan and its name. */
export interface NamedPlan {
  readonly name: PlanName;
  readonly plan: Plan;
}

/** The pool that runs the jobs of a plan. */
export function poolOf(plan: Pick<Plan, 'poolRef'>): string {
  return plan.poolRef ?? DEFAULT_POOL;
}

const none = { callbacks: false, templateVersions: false, revealIp: false };
const all = { callbacks: true, templateVersions: true, revealIp: true };

/** The built-in plans. */
export const DEFAULT_PLANS = {
  free: {
    monthlyRenders: 100,
    requestsPerMinute: 10,
    concurrentRenders: 1,
    maxInputSizeBytes: MIB,
    maxOutputSizeBytes: 10 * MIB,
    maxTimeoutMs: 30_000,
    maxActiveKeys: 2,
    maxBatchItems: 10,
    maxWaitingJobs: 50,
    maxStoredBytes: 100 * MIB,
    maxTestRendersPerDay: 50,
    retentionHours: 24,
    features: none,
    priceCentsPerMonth: 0,
  },
  starter: {
    monthlyRenders: 2500,
    requestsPerMinute: 60,
    concurrentRenders: 3,
    maxInputSizeBytes: 2 * MIB,
    maxOutputSizeBytes: 25 * MIB,
    maxTimeoutMs: 60_000,
    maxActiveKeys: 5,
    maxBatchItems: 500,
    maxWaitingJobs: 500,
    maxStoredBytes: 2 * GIB,
    maxTestRendersPerDay: 200,
    retentionHours: 72,
    features: none,
    priceCentsPerMonth: 1900,
  },
  professional: {
    monthlyRenders: 15_000,
    requestsPerMinute: 180,
    concurrentRenders: 10,
    maxInputSizeBytes: 5 * MIB,
    maxOutputSizeBytes: 50 * MIB,
    maxTimeoutMs: 120_000,
    maxActiveKeys: 20,
    maxBatchItems: 10_000,
    maxWaitingJobs: 5000,
    maxStoredBytes: 20 * GIB,
    maxTestRendersPerDay: 1000,
    retentionHours: 168,
    features: all,
    priceCentsPerMonth: 7900,
  },
  business: {
    monthlyRenders: 100_000,
    requestsPerMinute: 600,
    concurrentRenders: 40,
    maxInputSizeBytes: 10 * MIB,
    maxOutputSizeBytes: 100 * MIB,
    maxTimeoutMs: 300_000,
    maxActiveKeys: 100,
    maxBatchItems: 100_000,
    maxWaitingJobs: 50_000,
    maxStoredBytes: 200 * GIB,
    maxTestRendersPerDay: 5000,
    retentionHours: 720,
    features: all,
    priceCentsPerMonth: 34_900,
  },
} as const satisfies Readonly<Record<PlanName, Plan>>;
