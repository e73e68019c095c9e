import type { z } from 'zod';
import { s3ConfigErrors } from '../infra/outputs/s3/s3-variables.ts';
import { DEFAULT_OPS_PORT, environmentSchema, SYSTEM_CA } from './environment.ts';

export type Config = z.infer<typeof environmentSchema>;

/** Thrown with every error of the environment, one per line. */
export class ConfigError extends Error {
  constructor(readonlyErrors: readonly string[]) {
    super(`The configuration is not valid:\n${readonlyErrors.map((problem) => `  ${problem}`).join('\n')}`);
    this.name = 'ConfigError';
  }
}

export type Role = 'api' | 'worker' | 'dispatcher' | 'controller' | 'standalone';
/** The roles that work on jobs. */
export type JobRole = Exclude<Role, 'controller'>;

/** The port of the operations routes. In standalone it is the port of the API, unless PLATEN_OPS_PORT is set. */
export function opsPortOf(role: Role, { PORT, PLATEN_OPS_PORT }: Ports): number {
  return PLATEN_OPS_PORT ?? (role === 'standalone' ? PORT : DEFAULT_OPS_PORT);
}

/** Whether a process serves the administration. @throws ConfigError when callers of the API would reach it. */
export function servesAdmin(role: Role, config: Ports & Pick<Config, 'PLATEN_ADMIN_TOKEN'>): boolean {
  if ((role !== 'api' && role !== 'standalone') || config.PLATEN_ADMIN_TOKEN === undefined) return false;
  if (opsPortOf(role, config) !== config.PORT) return true;
  throw new ConfigError([
    `PLATEN_OPS_PORT: must be another port than PORT (${config.PORT}) when PLATEN_ADMIN_TOKEN is set: the administration is not served to callers`,
  ]);
}

type Ports = Pick<Config, 'PORT' | 'PLATEN_OPS_PORT'>;

/** Whether plans come from the cluster's resources. A plans file replaces them, and standalone has no controller. */
export function mirrorsPlans(role: Role, { PLATEN_PLANS_FILE }: Pick<Config, 'PLATEN_PLANS_FILE'>): boolean {
  return role !== 'standalone' && PLATEN_PLANS_FILE === undefined;
}

/** The variables that a role requires. Only the API signs anything, and only the roles that work on jobs use Kafka. */
const REQUIRED = {
  api: ['MONGODB_URI', 'KAFKA_BROKERS', 'PLATEN_SECRET'],
  worker: ['MONGODB_URI', 'KAFKA_BROKERS'],
  dispatcher: ['MONGODB_URI', 'KAFKA_BROKERS'],
  controller: ['MONGODB_URI', 'POD_NAME', 'POD_NAMESPACE', 'PLATEN_WORKER_TEMPLATE_FILE'],
  standalone: [],
} as const satisfies Readonly<Record<Role, readonly (keyof Config)[]>>;

/** Each first variable has no effect without the second. */
const NEEDED: readonly (readonly [keyof Config, keyof Config])[] = [
  ['PLATEN_BOOTSTRAP_API_KEY', 'PLATEN_BOOTSTRAP_EMAIL'],
  ['PLATEN_OIDC_CLIENT_ID', 'PLATEN_OIDC_ISSUER'],
  ['PLATEN_OIDC_CLIENT_SECRET', 'PLATEN_OIDC_CLIENT_ID'],
];

/** Variables that must be set together. */
const TOGETHER: readonly (readonly (keyof Config)[])[] = [
  ['KAFKA_SASL_MECHANISM', 'KAFKA_SASL_USERNAME', 'KAFKA_SASL_PASSWORD'],
  ['KAFKA_SSL_CERT', 'KAFKA_SSL_KEY'],
  ['MONGODB_TLS_CERT', 'MONGODB_TLS_KEY'],
  ['PLATEN_OIDC_ISSUER', 'PLATEN_OIDC_AUDIENCE'],
];

/** An empty variable counts as not set. @throws ConfigError naming every variable that is missing or out of bounds. */
export function loadConfig(role: Role, environment: NodeJS.ProcessEnv): Config {
  const given = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''));
  // Other programs read these in either case.
  for (const name of ['HTTPS_PROXY', 'NO_PROXY']) given[name] ??= given[name.toLowerCase()];
  const errors: string[] = [];
  const parsed = environmentSchema.safeParse(given);
  if (!parsed.success) {
    errors.push(...parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`));
  }
  for (const name of REQUIRED[role]) {
    if (given[name] === undefined) errors.push(`${name}: required by the role ${role}`);
  }
  for (const [name, needed] of NEEDED) {
    if (given[name] !== undefined && given[needed] === undefined)
      errors.push(`${needed}: required when ${name} is set`);
  }
  for (const names of TOGETHER) {
    const set = names.filter((name) => given[name] !== undefined);
    if (set.length > 0 && set.length < names.length) errors.push(`${names.join(', ')}: must be set together`);
  }
  if (given.KAFKA_SSL_CERT !== undefined && given.KAFKA_SSL_CA === undefined) {
    errors.push(`KAFKA_SSL_CA: required when KAFKA_SSL_CERT is set (${SYSTEM_CA} for public authorities)`);
  }
  if (role !== 'controller') errors.push(...s3ConfigErrors(given));
  if (!parsed.success || errors.length > 0) throw new ConfigError(errors);
  return parsed.data;
}
