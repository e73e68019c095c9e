import { z } from 'zod';
import { ALERT_KINDS } from '../../tenants/notifications/alert-kinds.ts';
import { DEFAULT_THRESHOLDS, QUOTA_PERCENTS } from '../../tenants/notifications/thresholds.ts';

const time = z.iso.datetime();
const count = z.int().min(0);
const { failurePercent, failureRenders, quotaPercents, webhookFailures } = DEFAULT_THRESHOLDS;

const percents = z
  .array(z.literal(QUOTA_PERCENTS))
  .max(QUOTA_PERCENTS.length)
  .describe(
    `Percentages of the period's renders, and of the cap of automatic overage, that people are told of, in any order; none: of no percentage. Default: ${quotaPercents.join(', ')}.`,
  );
const failureShare = z
  .int()
  .min(1)
  .max(99)
  .describe(`Renders of an hour of which more than this share fails, in percent; default ${failurePercent}.`);
const leastRenders = z
  .int()
  .min(1)
  .max(1_000_000)
  .describe(`The fewest renders of such an hour; default ${failureRenders}.`);
const failedAttempts = z
  .int()
  .min(1)
  .max(1000)
  .describe(
    `Attempts to deliver to one address that fail in a row; an hour of failures counts as well. Default ${webhookFailures}.`,
  );

export const thresholdsSchema = z
  .strictObject({
    quotaPercents: percents,
    failurePercent: failureShare,
    failureRenders: leastRenders,
    webhookFailures: failedAttempts,
  })
  .meta({ id: 'AlertThresholds' });

/** What is left out stays as it is. */
export const thresholdsChangeSchema = z.strictObject({
  quotaPercents: percents.optional(),
  failurePercent: failureShare.optional(),
  failureRenders: leastRenders.optional(),
  webhookFailures: failedAttempts.optional(),
});

const choice = z.boolean().optional();

export const choicesSchema = z.strictObject({
  quota: choice.describe('Mails about the use of the quota.'),
  spend: choice.describe('Mails about what automatic overage has spent of its cap.'),
  failures: choice.describe('Mails about hours in which many renders fail.'),
  webhooks: choice.describe('Mails about addresses at which callbacks do not arrive.'),
});

export const notificationsSchema = z
  .strictObject({
    mails: z
      .array(
        z
          .strictObject({
            kind: z.enum(ALERT_KINDS).describe('The kind of alert.'),
            on: z.boolean().describe('Whether the person gets these mails.'),
            available: z.boolean().describe('Whether the role of the person allows them.'),
          })
          .meta({ id: 'NotificationChoice' }),
      )
      .describe('By kind of alert.'),
    thresholds: thresholdsSchema,
  })
  .meta({ id: 'Notifications' });

const share = {
  percent: count.describe('In whole percent; more than 100 where a plan has become smaller.'),
  reached: count.describe('The highest threshold that is reached; 0 for none.'),
};

export const alertsSchema = z
  .strictObject({
    quota: z
      .strictObject({
        used: count.describe('PDFs made in the period, and those under way.'),
        limit: count.describe(
          'PDFs of the plan and of blocks that were bought; while further ones are bought, of the plan alone.',
        ),
        left: count.describe('PDFs that can still be made, with blocks.'),
        ...share,
        renewsAt: time.describe('When the quota begins anew.'),
        beyond: z
          .enum(['rejected', 'bought'])
          .describe('Whether renders beyond the limit are rejected, or a block is bought for them.'),
      })
      .meta({ id: 'QuotaAlert' }),
    spend: z
      .strictObject({
        spentCents: count.describe('Spent on blocks in the period.'),
        capCents: count.describe('The most that may be spent in the period.'),
        ...share,
      })
      .nullable()
      .meta({ id: 'SpendAlert' })
      .describe('Of automatic overage; null while it is off, and for roles that do not see it.'),
    failures: z
      .strictObject({
        hour: time.describe('Its beginning.'),
        renders: count,
        failed: count,
        codes: z
          .array(z.strictObject({ code: z.string(), count }).meta({ id: 'FailureCode' }))
          .describe('The commonest first, 5 at most.'),
      })
      .nullable()
      .meta({ id: 'FailureAlert' })
      .describe('The hour in which too many renders have failed; null once renders succeed again.'),
    webhooks: z
      .array(
        z
          .strictObject({
            url: z.string().describe('Without its query.'),
            since: time.describe('The first failure in a row.'),
            failures: count.describe('Attempts in a row.'),
            lastStatus: z.int().nullable().describe('Of the last response; null without one.'),
            lastError: z.string().nullable().describe('Why there was no response; null if there was one.'),
            nextAttemptAt: time.nullable().describe('Null when no further one is due.'),
          })
          .meta({ id: 'WebhookAlert' }),
      )
      .describe('Addresses at which callbacks do not arrive.'),
  })
  .meta({ id: 'Alerts' });
