import { z } from 'zod';
import { environmentSchema } from '../../src/config/environment.ts';
import { code, facts } from './markdown.ts';

/** The sections of docs/configuration.md: each begins with a variable, in the order of the schema. */
const SECTIONS: Readonly<Record<string, string>> = {
  PORT: 'Addresses and ports',
  PLATEN_HEADER_PREFIX: 'Headers, logs and data',
  MONGODB_URI: 'MongoDB',
  KAFKA_BROKERS: 'Kafka',
  PLATEN_OUTPUT_STORE: 'Outputs and plans',
  PLATEN_SYNC_WAIT_MS: 'Limits of the API',
  PLATEN_WORKER_SLOTS: 'Workers and browsers',
  PLATEN_ALLOWED_PRIVATE_NETWORKS: 'Networks and proxies',
  PLATEN_LEASE_MS: 'Times',
  PLATEN_EMBEDDED: 'Embedded database',
  PLATEN_OIDC_ISSUER: 'Signing in by OpenID Connect',
  PLATEN_REGISTRATION: 'Registration and sign-in',
  SMTP_URL: 'Mail',
  STRIPE_SECRET_KEY: 'Billing',
  POD_NAME: 'Kubernetes',
  OTEL_EXPORTER_OTLP_ENDPOINT: 'Traces',
  PLATEN_BOOTSTRAP_EMAIL: 'A fixed first account',
};

/** Of variables whose values are texts: what one may look like. Those with a default have it as their example. */
const EXAMPLES: Readonly<Record<string, string>> = {
  PLATEN_ADMIN_TOKEN: 'ada:3Q4vJ0m5uR2xT8yB7nK1cL6dW9eF0gHs',
  PLATEN_HOST: '127.0.0.1',
  PLATEN_OPS_PORT: '9090',
  PLATEN_PUBLIC_URL: 'https://pdf.example.com',
  PLATEN_SECRET: 'the output of: openssl rand -hex 32',
  PLATEN_SECRETS_DIR: '/run/secrets/platen',
  MONGODB_URI: 'mongodb://platen:password@mongo-0.example.com:27017/platen?replicaSet=rs0&tls=true',
  MONGODB_TLS_CERT: '/etc/platen/mongodb/tls.crt',
  MONGODB_TLS_KEY: '/etc/platen/mongodb/tls.key',
  KAFKA_BROKERS: 'kafka-0.example.com:9093,kafka-1.example.com:9093',
  KAFKA_SSL_CA: 'system',
  KAFKA_SSL_CERT: '/etc/platen/kafka/tls.crt',
  KAFKA_SSL_KEY: '/etc/platen/kafka/tls.key',
  KAFKA_SASL_MECHANISM: 'scram-sha-512',
  KAFKA_SASL_USERNAME: 'platen',
  PLATEN_OUTPUT_STORE: 'gridfs',
  PLATEN_PLANS_FILE: '/etc/platen/plans.yaml',
  PLATEN_WORKER_SLOTS: '8',
  PLATEN_CHROMIUM_PATH: '/usr/bin/chromium-headless-shell',
  PLATEN_ALLOWED_PRIVATE_NETWORKS: '10.20.0.0/16,192.168.7.5/32',
  HTTPS_PROXY: 'http://user:password@proxy.example.com:3128',
  NO_PROXY: 'internal.example.com,10.20.0.0/16',
  PLATEN_EMBEDDED_JARS: '/opt/mongo-java-server',
  PLATEN_OIDC_ISSUER: 'https://login.example.com',
  PLATEN_OIDC_AUDIENCE: 'platen',
  PLATEN_OIDC_CLIENT_ID: 'platen-dashboard',
  SMTP_URL: 'smtp://user:password@mail.example.com:587',
  STRIPE_SECRET_KEY: 'rk_live_…',
  STRIPE_WEBHOOK_SECRET: 'whsec_…',
  PLATEN_WATCH_NAMESPACES: 'platen,team-a',
  PLATEN_WORKER_TEMPLATE_FILE: '/etc/platen/worker-template.yaml',
  PLATEN_DEFAULT_RESOURCES_FILE: '/etc/platen/default-resources.yaml',
  PLATEN_WORKER_BLOCKED_NETWORKS: '10.0.0.0/24',
  OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector.example.com:4318',
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://collector.example.com:4318/v1/traces',
  OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20token',
  OTEL_SERVICE_NAME: 'platen-worker',
  OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment=production',
  PLATEN_BOOTSTRAP_EMAIL: 'ada@example.com',
};

/** docs/configuration.md, in Markdown: a block for each variable. */
export function configurationPage(note: string): string {
  const { properties = {} } = z.toJSONSchema(environmentSchema, { io: 'input' });
  const unknown = [...Object.keys(SECTIONS), ...Object.keys(EXAMPLES)].filter(
    (name) => !(name in properties),
  );
  if (unknown.length > 0) throw new Error(`No variable of the environment: ${unknown.join(', ')}`);
  const blocks = Object.entries(properties).map(([name, described]) => {
    const title = SECTIONS[name];
    const heading = title === undefined ? '' : `## ${title}\n\n`;
    return heading + block(name, described as z.core.JSONSchema.BaseSchema);
  });
  return `${note}

# Configuration

Everything is set by environment variables. They are checked at start, and every error is reported at once. An empty
variable counts as not set.

\`\`\`sh
PORT=9000 PLATEN_PUBLIC_URL=https://pdf.example.com make run
\`\`\`

${blocks.join('\n')}`;
}

function block(name: string, variable: z.core.JSONSchema.BaseSchema): string {
  const { description: meaning = '' } = variable;
  if (meaning === '') throw new Error(`${name} has no description`);
  const example = EXAMPLES[name];
  return `### ${code(name)}

${meaning}

${facts({
  Value: valuesOf(variable),
  Default: defaultOf(variable, meaning),
  Example: example === undefined ? '' : code(`${name}=${example}`),
})}`;
}

function valuesOf({ enum: values, type, minimum, maximum }: z.core.JSONSchema.BaseSchema): string {
  if (values !== undefined) return values.map((value) => code(String(value))).join(', ');
  if (type !== 'integer') return '';
  return `${minimum?.toLocaleString('en')} to ${maximum?.toLocaleString('en')}`;
}

/** A default that depends on the machine or the role is told in the meaning instead. */
function defaultOf(variable: z.core.JSONSchema.BaseSchema, meaning: string): string {
  const value = variable.default;
  if (value === undefined || meaning.includes('Default') || (Array.isArray(value) && value.length === 0))
    return '';
  return code(String(value));
}
