import { z } from 'zod';
import { nameSchema } from '../../tenants/plans/plan.ts';
import { page } from '../request/paging-schema.ts';

const time = z.iso.datetime();

export const subscriptionSchema = z
  .strictObject({
    status: z
      .string()
      .describe(
        "`none`, or the subscription's: `active`, `trialing`, `past_due`, `unpaid`, `paused`, `canceled`.",
      ),
    plan: nameSchema.optional().describe('The plan in force.'),
    currentPeriodEnd: time.optional(),
    cancelAtPeriodEnd: z.boolean().optional(),
    scheduledPlan: z.string().optional().describe('The plan that is scheduled to begin later.'),
    scheduledPlanEffectiveDate: time.optional(),
    autoOverageEnabled: z.boolean().optional(),
    autoOverageBlockSize: z
      .int()
      .nullable()
      .optional()
      .describe('PDFs of a block that is bought automatically.'),
    autoOverageCycleCapCents: z
      .int()
      .nullable()
      .optional()
      .describe('US cents that blocks may cost in one period.'),
  })
  .meta({ id: 'Subscription' });

export const hostedPageSchema = z.strictObject({ url: z.string() }).meta({ id: 'HostedPage' });

export const checkoutSchema = z
  .strictObject({
    url: z.string().describe('The page where the customer continues; empty if there is nothing left to do.'),
    scheduledPlan: z.string().optional(),
    scheduledPlanEffectiveDate: time.optional(),
  })
  .meta({ id: 'Checkout' });

export const upgradePreviewSchema = z
  .strictObject({
    eligible: z.boolean(),
    currentPlan: z.string(),
    targetPlan: z.string().optional(),
    amountDueCents: z
      .int()
      .optional()
      .describe('The amount due at once, for the rest of the period, in cents.'),
    currency: z.string().optional(),
    periodStart: time.optional(),
    periodEnd: time.optional(),
  })
  .meta({ id: 'UpgradePreview' });

export const invoiceListSchema = z
  .strictObject({
    ...page,
    invoices: z.array(
      z
        .strictObject({
          id: z.string(),
          number: z.string().nullable().describe('Null for a draft.'),
          status: z.string(),
          currency: z.string(),
          amountDueCents: z.int(),
          amountPaidCents: z.int(),
          createdAt: time,
          hostedInvoiceUrl: z
            .string()
            .nullable()
            .describe('The page where it can be seen and paid; null for a draft.'),
          pdfUrl: z.string().optional().describe('Present when there is a PDF.'),
        })
        .meta({ id: 'Invoice' }),
    ),
    statusOptions: z.array(z.string()).describe('The values that `status` may have.'),
  })
  .meta({ id: 'InvoiceList' });
