import { optional, z } from 'zod';
import { SASL_MECHANISMS } from '../infra/bus/kafka/sasl.ts';
import { httpUrl } from '../infra/egress/http-url.ts';
import { ENGINE_CHOICES } from '../infra/embedded-database/engines.ts';
import { defaultSlots } from '../infra/machine/machine-cores.ts';
import { machineMemory } from '../infra/machine/machine-memory.ts';
import { s3Variables } from '../infra/outputs/s3/s3-variables.ts';
import { otelVariables } from '../infra/tracing/otel-variables.ts';
import { DEFAULT_LOCALE } from '../render/chromium/process/locale.ts';
import { REGISTRATION_MODES } from '../tenants/accounts/registration.ts';
import { emailSchema, PASSWORD_LENGTHS } from '../tenants/accounts/sign-in-credentials.ts';
import { DEFAULT_POOL, PLAN_OR_POOL_NAME } from '../tenants/plans/names.ts';
import { nameSchema } from '../tenants/plans/plan.ts';
import {
  givenKey,
  integer,
  kubernetesName,
  list,
  networks,
  operatorTokens,
  port,
  proxyExceptions,
  proxyUrl,
  secret,
  text,
} from './config-values.ts';

const MIB = 1024 * 1024;
/** The port of every role except standalone. */
export const DEFAULT_OPS_PORT = 9090;
/** A value instead of a file of certificate authorities: trust those of the system. */
export const SYSTEM_CA = 'system';

/**
 * Every environment variable Platen reads. The table in `docs/configuration.md` is generated from here, so each
 * entry says what it is for and in which unit.
 */
export const environmentSchema = z.object({
  PORT: port.default(8080).describe('Port of the HTTP server; 0 lets the system choose.'),
  PLATEN_OPS_PORT: optional(port).describe(
    `Port of /healthz, /readyz, /metrics and /version. Default ${DEFAULT_OPS_PORT}; of standalone PORT. On a port of their own they are not served on PORT, except for /version, which reports the version alone there.`,
  ),
  PLATEN_ADMIN_TOKEN: optional(operatorTokens).describe(
    'Turns the administration on (docs/administration.md), on the operations port of api and standalone. Tokens of 32 characters or more, comma-separated, each as name:token; the audit log has the name. Standalone then needs a PLATEN_OPS_PORT of its own. For platen admin, the token to send.',
  ),
  PLATEN_HOST: optional(text).describe(
    'Address the HTTP servers listen on. Default every address of the machine, of IPv6 and IPv4 (::), or of IPv4 alone where there is no IPv6 (0.0.0.0).',
  ),
  PLATEN_PUBLIC_URL: optional(httpUrl).describe(
    'Address at which callers reach the service; absolute links start with it. Default http://localhost:PORT. The dispatcher needs it for callbacks: a dispatcher without it keeps callbacks and does not send them.',
  ),
  PLATEN_TRUSTED_PROXIES: integer(0, 0, 16).describe(
    'How many proxies in front may name the client in X-Forwarded-For.',
  ),
  PLATEN_HEADER_PREFIX: z
    .string()
    .regex(/^X-[A-Za-z0-9-]*-$/, 'must look like X-Name-')
    .default('X-Service-')
    .describe("Prefix of the service's own response and callback headers."),
  PLATEN_LOG_LEVEL: z
    .enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'])
    .default('info')
    .describe('Log entries of this level and of more severe ones are written.'),
  PLATEN_DATA_DIR: text
    .default('data')
    .describe('Folder for what standalone keeps: database, PDFs, its secret.'),
  PLATEN_SECRET: optional(secret).describe(
    'Signs links; the same for every API process of an installation, and needed by no other role. Standalone makes its own.',
  ),
  PLATEN_SECRET_PREVIOUS: optional(secret).describe(
    'Another secret whose links the API accepts, while PLATEN_SECRET is being changed: the one before, or the next one. It signs nothing.',
  ),
  PLATEN_SECRETS_DIR: optional(text).describe(
    'Folder with a file for each variable that comes from a Secret, named after the variable. If a file differs from its variable, the Secret was rotated, and the metric platen_secret_outdated reports that.',
  ),
  MONGODB_URI: optional(
    z.string().regex(/^mongodb(\+srv)?:\/\//, 'must start with mongodb:// or mongodb+srv://'),
  ).describe(
    'The database. Standalone starts an embedded one when it is not set. For TLS the URI says tls=true, and tlsCAFile=/path/ca.crt for an authority of your own.',
  ),
  MONGODB_TLS_CERT: optional(text).describe(
    'PEM file of the client certificate for the database of MONGODB_URI. Turns TLS on. Needs MONGODB_TLS_KEY.',
  ),
  MONGODB_TLS_KEY: optional(text).describe('PEM file of its key.'),
  KAFKA_BROKERS: optional(list).describe('Brokers, comma-separated. Required by api, worker and dispatcher.'),
  KAFKA_SSL_CA: optional(text).describe(
    `Turns TLS to the brokers on: PEM file of the authority that signed their certificates, or ${SYSTEM_CA} for those that the system trusts.`,
  ),
  KAFKA_SSL_CERT: optional(text).describe(
    'PEM file of the client certificate for the brokers. Needs KAFKA_SSL_KEY and KAFKA_SSL_CA.',
  ),
  KAFKA_SSL_KEY: optional(text).describe('PEM file of its key.'),
  KAFKA_SASL_MECHANISM: optional(z.enum(SASL_MECHANISMS)).describe('Turns SASL on. Use it with TLS.'),
  KAFKA_SASL_USERNAME: optional(text).describe('Required with KAFKA_SASL_MECHANISM.'),
  KAFKA_SASL_PASSWORD: optional(text).describe('Required with KAFKA_SASL_MECHANISM.'),
  PLATEN_KAFKA_TOPIC_PREFIX: z
    .string()
    .regex(/^[a-zA-Z0-9._-]{1,100}$/, 'must be letters, digits, dots, dashes or underscores')
    .default('platen')
    .describe('Prefix of topics and consumer groups.'),
  PLATEN_KAFKA_REPLICATION: integer(1, 1, 7).describe(
    'Replication factor of the topics when Platen creates them.',
  ),
  PLATEN_OUTPUT_STORE: optional(z.enum(['gridfs', 'folder', 's3'])).describe(
    'Where PDFs are kept. Default folder for standalone, gridfs otherwise; folder needs a PLATEN_DATA_DIR that api, worker and dispatcher share, s3 a PLATEN_S3_BUCKET.',
  ),
  ...s3Variables,
  PLATEN_PLANS_FILE: optional(text).describe(
    'YAML or JSON file whose `plans` override the built-in plans and add others. A change takes effect within two seconds. Without it the separate roles use the plans of the cluster (RenderPlan), if there are any.',
  ),
  PLATEN_SYNC_WAIT_MS: integer(25_000, 0, 300_000).describe(
    'How long POST /v1/pdf waits before it responds with 202, in milliseconds.',
  ),
  PLATEN_MAX_LIVE_JOBS: integer(100_000, 1, 10_000_000).describe(
    'Waiting and running jobs of all accounts; beyond this limit, new work is rejected with 503.',
  ),
  PLATEN_LIVE_JOBS_KEPT_FOR_PAID: integer(20, 0, 100).describe(
    'Per cent of PLATEN_MAX_LIVE_JOBS that accounts on plans without a price do not get: beyond the rest, their new work is rejected with 503.',
  ),
  PLATEN_MAX_UPLOAD_BYTES: integer(128 * MIB, 16 * MIB, 1024 * 1024 * MIB).describe(
    'Bytes of request bodies that one API process holds at a time; beyond this limit, a body of the account that sends most is rejected with 503.',
  ),
  PLATEN_MAX_UPLOAD_BYTES_PER_ACCOUNT: integer(32 * MIB, 16 * MIB, 1024 * 1024 * MIB).describe(
    'Bytes of request bodies that one API process holds at a time of one account, or of one network before authentication; beyond this limit, bodies are rejected with 429.',
  ),
  PLATEN_LEAST_UPLOAD_RATE: integer(8192, 0, 1024 * MIB).describe(
    'Bytes a second at which a request body has to come, in each window of five seconds; a slower one is ended with 408.',
  ),
  PLATEN_MAX_CONNECTIONS: integer(4096, 1, 1_000_000).describe(
    'Connections that one API process holds at a time, at most half of its file descriptors (`ulimit -n`); further ones are closed at once.',
  ),
  PLATEN_WORKER_SLOTS: integer(defaultSlots(machineMemory().total), 1, 256).describe(
    'Renders at the same time in one worker, including those that wait for the network, a selector or a delay. Three renders for every two cores compute at the same time. Default: eight for each core (at least 16), but no more than fit into a quarter of the memory at 96 MiB each.',
  ),
  PLATEN_POOL: z
    .string()
    .regex(
      PLAN_OR_POOL_NAME,
      'must be up to 63 lower-case letters, digits, dots or dashes, the first and last a letter or digit',
    )
    .default(DEFAULT_POOL)
    .describe('The pool whose jobs a worker takes.'),
  PLATEN_ISOLATION: z
    .enum(['account', 'job', 'browser'])
    .default('account')
    .describe(
      'What a render shares with others: account (a warm context per account), job (a fresh context), browser (a process tree of its own).',
    ),
  PLATEN_WARM_MEMORY_PERCENT: integer(30, 0, 80).describe(
    "Per cent of a worker's memory (the limit of its control group, or the machine's) for contexts that are kept warm for their accounts. They are closed when memory runs short.",
  ),
  PLATEN_SANDBOX: z
    .enum(['required', 'preferred', 'off'])
    .default('preferred')
    .describe(
      "Chromium's own sandbox: required (a worker does not start without it), preferred (where it is not available, workers run without it and report that), off.",
    ),
  PLATEN_CHROMIUM_PATH: optional(text).describe(
    'Path of the Chromium to use. Default: Platen searches for one.',
  ),
  PLATEN_SEAL_KEYS_DIR: optional(text).describe(
    'Folder with the keys that seal PDFs (docs/sealing-keys.md): for each NAME.p12 (or NAME.pkcs11 and NAME.pem), NAME.password and NAME.accounts. A process of its own reads them at each seal, so changes need no restart. For workers.',
  ),
  PLATEN_LOCALE: z
    .string()
    .regex(
      /^[A-Za-z]{2,3}(-[A-Za-z]{4})?(-([A-Za-z]{2}|[0-9]{3}))?$/,
      'must be a language tag of BCP 47, such as de-DE',
    )
    .default(DEFAULT_LOCALE)
    .describe(
      'Language of documents without the option locale: navigator.language, Accept-Language, Intl, and the date in headers (with a full Chromium that date is always in en-US). For workers.',
    ),
  PLATEN_ALLOWED_PRIVATE_NETWORKS: networks
    .default([])
    .describe('Private networks that documents and callbacks may reach: CIDRs, comma-separated.'),
  HTTPS_PROXY: optional(proxyUrl).describe(
    'Proxy for documents, callbacks, Stripe and the OIDC issuer, such as http://user:password@proxy.example.com:3128. It has to allow CONNECT to their ports. If it is not set, https_proxy is used.',
  ),
  NO_PROXY: proxyExceptions
    .default([])
    .describe(
      'Hosts that are reached without the proxy, comma-separated: names (with all names below them), addresses and CIDR blocks, each with a port if needed; * for all. If it is not set, no_proxy is used.',
    ),
  PLATEN_PROXY_LOOKUP: z
    .enum(['here', 'proxy'])
    .default('here')
    .describe(
      'Who looks up the names of documents and callbacks behind HTTPS_PROXY. here: Platen looks up and checks the addresses, and tells the proxy to connect to a checked one. proxy: the proxy looks them up, for networks whose name servers know no public names. Then the proxy has to reject private addresses itself, since Platen checks only addresses that stand in URLs.',
    ),
  PLATEN_LEASE_MS: integer(15_000, 500, 600_000).describe(
    'How long a worker holds a job without renewing its lease, in milliseconds. The same for workers and dispatchers.',
  ),
  PLATEN_SWEEP_MS: integer(1000, 50, 60_000).describe(
    'Pause between two sweeps of the dispatcher, in milliseconds.',
  ),
  PLATEN_REDELIVERY_MS: integer(5000, 100, 600_000).describe(
    'Milliseconds without a claim after which a dispatched job is published again.',
  ),
  PLATEN_RETRY_BASE_MS: integer(2000, 10, 600_000).describe(
    'First back-off between two attempts of a job, in milliseconds; it doubles with each, with jitter.',
  ),
  PLATEN_SHUTDOWN_GRACE_MS: integer(20_000, 0, 600_000).describe(
    'How long a stopping process lets running renders finish, in milliseconds.',
  ),
  PLATEN_EMBEDDED: z
    .enum(ENGINE_CHOICES)
    .default('auto')
    .describe(
      "Embedded database of standalone: mongod (the one on PATH, otherwise MongoDB's, which is downloaded into .cache), mongo-java-server (needs Java 17), or auto: the one that wrote the present data; without data, the first of the two that is available.",
    ),
  PLATEN_EMBEDDED_JARS: optional(text).describe(
    'Folder of mongo-java-server; default .cache/peers/mongo-java-server in the folder of the package.',
  ),
  PLATEN_OIDC_ISSUER: optional(httpUrl).describe(
    'OpenID Connect issuer whose JWTs are accepted as bearer tokens, exactly as in the claim `iss`.',
  ),
  PLATEN_OIDC_AUDIENCE: optional(text).describe(
    "Audience that the issuer's tokens must be for; required with PLATEN_OIDC_ISSUER.",
  ),
  PLATEN_OIDC_CLIENT_ID: optional(text).describe(
    'Client id with which the dashboard signs people in at PLATEN_OIDC_ISSUER, by the authorization code flow with PKCE. Register PLATEN_PUBLIC_URL/auth/oidc/callback as its redirect URI at the issuer.',
  ),
  PLATEN_OIDC_CLIENT_SECRET: optional(text).describe(
    'Secret of PLATEN_OIDC_CLIENT_ID; without it the client is a public one.',
  ),
  PLATEN_REGISTRATION: z
    .enum(REGISTRATION_MODES)
    .default('open')
    .describe(
      'Who may register with POST /auth/register: open (everybody), invite (only with an invitation from platen accounts invite), closed (nobody; the operator uses platen accounts create). Accounts of an issuer are always made.',
    ),
  PLATEN_CONFIRM_ADDRESS: z
    .enum(['optional', 'required'])
    .default('optional')
    .describe(
      'Whether a registered account needs a confirmed e-mail address for live API keys and for live renders from the dashboard: optional, or required (without it the response is 403; a new account gets a mail with the link). Keys that were made before go on working. Accounts of the operator and of an issuer, and test keys, need no confirmed address.',
    ),
  PLATEN_REGISTRATIONS_PER_ADDRESS: integer(20, 1, 1_000_000).describe(
    'Accounts that may be requested within an hour from one client address (of IPv6: from one /64, and ten times as many from one /48); beyond this limit, requests are rejected with 429.',
  ),
  PLATEN_SIGN_IN_FAILURES_PER_ACCOUNT: integer(10, 1, 1_000_000).describe(
    'Failures to sign in to one account within a quarter of an hour from one client address (of IPv6: from one /48), and ten times as many from everywhere; beyond this limit, attempts are rejected with 429.',
  ),
  PLATEN_SIGN_IN_FAILURES_PER_ADDRESS: integer(100, 1, 1_000_000).describe(
    'Failures to sign in to any account within a quarter of an hour from one client address (of IPv6: from one /64, and ten times as many from one /48); beyond this limit, attempts are rejected with 429.',
  ),
  SMTP_URL: optional(z.url({ protocol: /^smtps?$/, error: 'must be an smtp or smtps address' })).describe(
    'Mail server: smtp://user:password@host:587 (TLS where it offers it; ?requireTLS=true insists) or smtps://…:465. Without it standalone writes mails to the folder mails of its data, and a dispatcher keeps them until it has one.',
  ),
  PLATEN_MAIL_FROM: emailSchema
    .default('platen@localhost.localdomain')
    .describe('Address that mails come from.'),
  STRIPE_SECRET_KEY: optional(
    z.string().regex(/^(sk|rk)_[A-Za-z0-9_]+$/, 'must start with sk_ or rk_'),
  ).describe(
    'Secret or restricted key of the Stripe account that receives the payments. Without it nothing is sold, and plans are set with platen accounts. For api and dispatcher.',
  ),
  STRIPE_WEBHOOK_SECRET: optional(z.string().regex(/^whsec_.+$/, 'must start with whsec_')).describe(
    'Signing secret of the webhook endpoint at Stripe; without it no event is accepted. For api.',
  ),
  STRIPE_API_BASE: optional(httpUrl).describe(
    "Address of Stripe's API, for tests with a stand-in. Default https://api.stripe.com.",
  ),
  POD_NAME: optional(kubernetesName).describe(
    'Name of the pod that the process runs in, by the downward API.',
  ),
  POD_NAMESPACE: optional(kubernetesName).describe('Namespace of that pod.'),
  KUBERNETES_SERVICE_HOST: optional(text).describe(
    'Address of the API server within the cluster, as the kubelet sets it.',
  ),
  PLATEN_CLUSTER: kubernetesName
    .default('default')
    .describe(
      "Name of the controller's Kubernetes cluster, another one in each cluster whose installation uses the same database: the plans and pools of all of them are in force.",
    ),
  PLATEN_WATCH_NAMESPACES: list
    .default([])
    .describe(
      'Namespaces whose RenderPlans and RenderPools the controller reconciles, comma-separated. Default: its own.',
    ),
  PLATEN_LEASE_NAME: kubernetesName
    .default('platen-controller')
    .describe(
      'Name of the Lease, in its own namespace, by which one of several controllers becomes the leader.',
    ),
  PLATEN_WORKER_TEMPLATE_FILE: optional(text).describe(
    'YAML file with the PodTemplateSpec that the workers of every pool are made from. Required by the controller.',
  ),
  PLATEN_DEFAULT_RESOURCES_FILE: optional(text).describe(
    'YAML file with a list of RenderPlans and RenderPools that the controller creates once.',
  ),
  PLATEN_LINK_SECRET_FILE: optional(text).describe(
    'YAML file with a Secret, without its data, for the PLATEN_SECRET of the API. The controller creates it if there is none of this name.',
  ),
  PLATEN_WORKER_NETWORK_POLICIES: z
    .enum(['on', 'off'])
    .default('on')
    .describe('Whether the controller makes a NetworkPolicy for each pool.'),
  PLATEN_WORKER_BLOCKED_NETWORKS: networks
    .default(['169.254.0.0/16', 'fe80::/10', 'fd00:ec2::/32', 'fd20:ce::254/128', 'fd00:c1::a9fe:a9fe/128'])
    .describe(
      'Networks blocked for workers, as CIDRs, comma-separated. The address of the API server as a Service (KUBERNETES_SERVICE_HOST) is always one of them. Add the real addresses of the API server: many CNIs check those, not the Service address.',
    ),
  NODE_NAME: optional(kubernetesName).describe('Name of the node that it runs on.'),
  ...otelVariables,
  PLATEN_BOOTSTRAP_EMAIL: optional(emailSchema).describe('E-mail address of a fixed first account.'),
  PLATEN_BOOTSTRAP_PASSWORD: optional(
    z
      .string()
      .min(PASSWORD_LENGTHS.min, `must have ${PASSWORD_LENGTHS.min} characters or more`)
      .max(PASSWORD_LENGTHS.max, `must have ${PASSWORD_LENGTHS.max} characters or fewer`),
  ).describe('Its password.'),
  PLATEN_BOOTSTRAP_PLAN: nameSchema
    .default('business')
    .describe('Its plan: a built-in one, or one of PLATEN_PLANS_FILE.'),
  PLATEN_BOOTSTRAP_API_KEY: optional(givenKey).describe('Its API key, taken as given.'),
});
