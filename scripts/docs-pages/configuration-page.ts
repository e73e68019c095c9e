import { z } from 'zod';
import { environmentSchema } from '../../src/config/environment.ts';
import { code, facts } from './markdown.ts';
import { VARIABLE_EXAMPLES } from './variable-examples.ts';

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

/** docs/configuration.md, in Markdown: a block for each variable. */
export function configurationPage(note: string): string {
  const { properties = {} } = z.toJSONSchema(environmentSchema, { io: 'input' });
  const unknown = [...Object.keys(SECTIONS), ...Object.keys(VARIABLE_EXAMPLES)].filter(
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
  const example = VARIABLE_EXAMPLES[name];
  if (example === undefined && variable.enum === undefined)
    throw new Error(`scripts/docs-pages/variable-examples.ts lacks ${name}`);
  const [value, sense] = typeof example === 'string' ? [example] : (example ?? []);
  return `### ${code(name)}

${meaning}

${facts({
  Value: valuesOf(variable),
  Default: defaultOf(variable, meaning),
  Example: value === undefined ? '' : code(`${name}=${value}`) + (sense === undefined ? '' : ` (${sense})`),
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
