import Stripe from 'stripe';
import { checkStripe, setUpStripe } from '../billing/setup.ts';
import { StripeGateway } from '../billing/stripe/stripe-gateway.ts';
import { type Config, loadConfig } from '../config/config.ts';
import { mongodbCertificate } from '../infra/store/client-certificate.ts';
import { connectDatabase } from '../infra/store/connection.ts';
import { createLogger, type Logger } from '../infra/telemetry/logger.ts';
import { openMirroredPlans } from '../tenants/plans/mirrored-plans.ts';
import { PlanMirror } from '../tenants/plans/plan-mirror.ts';
import type { PlanSource } from '../tenants/plans/plan-source.ts';
import { openPlanSource } from '../tenants/plans/watched-plans.ts';
import { CommandError } from './command-error.ts';
import { giveHelp } from './command-line.ts';

const BILLING_USAGE = `usage: platen billing <command>

commands:
  setup    creates the products, prices, portal and webhook endpoint that are missing at Stripe
  check    lists what is missing or different at Stripe

Both need STRIPE_SECRET_KEY and PLATEN_PUBLIC_URL. Prices come from the plans of PLATEN_PLANS_FILE; without it, from the
cluster's plans in the database of MONGODB_URI, or from the built-in plans.`;

/** @returns the exit code: 1 when `check` has found something. @throws CommandError with a message for the user. */
export async function runBillingCommand(
  argv: readonly string[],
  environment: NodeJS.ProcessEnv,
  print: (text: string) => void,
): Promise<number> {
  giveHelp(argv, BILLING_USAGE);
  const [command, ...rest] = argv;
  if ((command !== 'setup' && command !== 'check') || rest.length > 0) throw new CommandError(BILLING_USAGE);
  const config = loadConfig('standalone', environment);
  const { STRIPE_SECRET_KEY: secretKey, STRIPE_API_BASE: apiBase, PLATEN_PUBLIC_URL: publicUrl } = config;
  if (secretKey === undefined) throw new CommandError('STRIPE_SECRET_KEY is required.');
  if (publicUrl === undefined) throw new CommandError('PLATEN_PUBLIC_URL is required.');
  const logger = createLogger({ level: 'silent', role: 'billing', instance: 'billing' });
  const plans = await openPlans(config, logger);
  const gateway = new StripeGateway({ secretKey, apiBase });
  const webhookUrl = `${publicUrl.replace(/\/$/, '')}/webhooks/payments`;
  const act = command === 'setup' ? setUpStripe : checkStripe;
  const { lines, webhookSecret } = await asked(() => act(gateway, plans, webhookUrl));
  for (const line of lines) print(line);
  if (lines.length === 0) print('Everything is there.');
  if (webhookSecret !== undefined) print(`\nSTRIPE_WEBHOOK_SECRET=${webhookSecret}   (shown this once)`);
  return command === 'check' && lines.length > 0 ? 1 : 0;
}

/** Runs calls to Stripe. @throws CommandError with Stripe's error, or when Stripe cannot be reached. */
async function asked<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof Stripe.errors.StripeError)) throw error;
    const { statusCode, message } = error;
    if (statusCode === undefined) throw new CommandError(`Stripe cannot be reached: ${message}`);
    if (statusCode === 401)
      throw new CommandError(`Stripe does not know the key of STRIPE_SECRET_KEY: ${message}`);
    if (statusCode === 403)
      throw new CommandError(`The key of STRIPE_SECRET_KEY may not do this at Stripe: ${message}`);
    throw new CommandError(`Stripe has refused: ${message}`);
  }
}

/** The present plans, of which only the prices are used. @throws CommandError when they cannot be read. */
async function openPlans(
  config: Pick<Config, 'PLATEN_PLANS_FILE' | 'MONGODB_URI' | 'MONGODB_TLS_CERT' | 'MONGODB_TLS_KEY'>,
  logger: Logger,
): Promise<PlanSource> {
  const { PLATEN_PLANS_FILE, MONGODB_URI } = config;
  if (PLATEN_PLANS_FILE !== undefined || MONGODB_URI === undefined) {
    return openPlanSource(PLATEN_PLANS_FILE, { logger, onChecked: () => undefined });
  }
  try {
    const connection = await connectDatabase(MONGODB_URI, logger, await mongodbCertificate(config));
    try {
      return await openMirroredPlans(new PlanMirror(connection), logger);
    } finally {
      await connection.close();
    }
  } catch (error) {
    throw new CommandError(`The database cannot be reached: ${(error as Error).message}`);
  }
}
