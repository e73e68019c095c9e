import { createInterface } from 'node:readline';
import { CommandError } from '../command-error.ts';
import { misused, parseCommandLine } from '../command-line.ts';
import { AdminClient, type Body, type Query } from './admin-client.ts';
import { type Column, cell, columnTable, fieldTable, LISTS, queueText } from './admin-tables.ts';

const USAGE = `usage: platen admin <command> [--json] [--limit N] [--cursor CURSOR]

  accounts [--search TEXT] [--plan PLAN] [--suspended]   TEXT is an id, or how an address begins
  accounts show | resume ACCOUNT                         ACCOUNT is an id or an address
  accounts suspend ACCOUNT --reason TEXT                 rejects its keys and sign-in; waiting jobs stay waiting
  accounts delete ACCOUNT [--yes]                        deletes it with all its data; asks for its address
  queue                                                  what waits and runs, and why it waits
  workers                                                what each worker renders
  workers drain | resume WORKER                          stops a worker from claiming jobs, or lets it claim again
  jobs [FILTER]                                          those that failed in the last day, unless FILTER is given
  jobs show | retry | cancel JOB
  jobs retry | cancel --all [FILTER]                     all jobs that match; prints how many
  deliveries [--state waiting|failed]                    callbacks
  deliveries retry ID
  mails [--state waiting|failed]
  mails retry ID
  billing events | purchases | subscriptions             entries that may need an operator
  billing retry KIND ID                                  reads the payment provider's state again
  audit                                                  what operators did

FILTER: --state failed|waiting|running|completed|cancelled  --account ID  --code ERROR_CODE  --template ID
        --from TIME  --to TIME      (ISO 8601: 2026-11-28T09:00:00Z)

The service is at PLATEN_ADMIN_URL, the operations port of api or standalone (default http://localhost:9090), with the
token in PLATEN_ADMIN_TOKEN. Exits with 2 if some jobs of --all could not be changed.`;

/** Exit code when some jobs were left alone. */
const SOME_SKIPPED = 2;
const MAX_ROWS = 100_000;

const ACTS_ON_ONE: ReadonlySet<string> = new Set([
  ...['show', 'suspend', 'resume', 'delete', 'drain', 'retry', 'cancel'],
]);

const OPTIONS = {
  json: { type: 'boolean', default: false },
  limit: { type: 'string', default: '50' },
  cursor: { type: 'string' },
  search: { type: 'string' },
  plan: { type: 'string' },
  suspended: { type: 'boolean', default: false },
  reason: { type: 'string' },
  yes: { type: 'boolean', default: false },
  state: { type: 'string' },
  account: { type: 'string' },
  code: { type: 'string' },
  template: { type: 'string' },
  from: { type: 'string' },
  to: { type: 'string' },
  all: { type: 'boolean', default: false },
} as const;
type Values = ReturnType<typeof parseCommandLine<typeof OPTIONS>>['values'];

interface Streams {
  /** Receives the result, and nothing else. */
  readonly print: (text: string) => void;
  /** Receives the progress, and questions. */
  readonly stderr: { write(text: string): unknown };
  readonly stdin: NodeJS.ReadableStream;
}

/** A result for programs and for people, and the exit code. */
interface Result {
  readonly value: unknown;
  readonly text: string;
  readonly exitCode?: number;
}

/** `platen admin …`. @returns the exit code. @throws CommandError */
export async function runAdminCommand(
  argv: readonly string[],
  environment: NodeJS.ProcessEnv,
  { print, ...streams }: Streams,
): Promise<number> {
  const { positionals, values } = parseCommandLine(argv, OPTIONS, USAGE);
  const client = new AdminClient(environment);
  const result = await run(client, positionals, values, streams);
  if (result === undefined) throw misused(`Not understood: ${argv.join(' ')}`, USAGE);
  print(values.json ? JSON.stringify(result.value, undefined, 2) : result.text);
  return result.exitCode ?? 0;
}

/** @returns undefined for a command that there is not. */
async function run(
  client: AdminClient,
  [what = '', act = 'list', ...operands]: readonly string[],
  values: Values,
  { stderr, stdin }: Omit<Streams, 'print'>,
): Promise<Result | undefined> {
  const [id = '', ...more] = operands;
  if (more.length > (what === 'billing' ? 1 : 0)) return undefined;
  if (ACTS_ON_ONE.has(act) && (id === '') !== values.all)
    throw misused(values.all ? 'Either one, or --all.' : `Which one of ${what}?`, USAGE);
  const list = (path: string, columns: readonly Column[], query: Query = {}) =>
    listed(client, path, columns, query, values);
  const one = async (reply: Promise<Body>) => shown(await reply);
  switch (`${what} ${act}`) {
    case 'accounts list': {
      const { search, plan, suspended } = values;
      return list('/accounts', LISTS.accounts, { search, plan, ...(suspended && { suspended: 'true' }) });
    }
    case 'accounts show':
      return one(client.get(`/accounts/${await accountId(client, id)}`));
    case 'accounts suspend':
      if (values.reason === undefined) throw misused('--reason is required: it is for the audit log.', USAGE);
      return one(client.post(`/accounts/${await accountId(client, id)}/suspend`, { reason: values.reason }));
    case 'accounts resume':
      return one(client.post(`/accounts/${await accountId(client, id)}/resume`));
    case 'accounts delete': {
      const account = await accountId(client, id);
      const confirm = values.yes ? account : await confirmed(client, account, { stderr, stdin });
      return one(client.post(`/accounts/${account}/delete`, { confirm }));
    }
    case 'queue list': {
      const value = await client.get('/queue', { limit: `${Math.min(200, limitOf(values))}` });
      return { value, text: queueText(value) };
    }
    case 'workers list': {
      const { rows } = await client.get('/workers');
      return { value: rows, text: columnTable(LISTS.workers, rows as Body[]) };
    }
    case 'workers drain':
    case 'workers resume':
      return one(client.post(`/workers/${encodeURIComponent(id)}/${act}`));
    case 'jobs list':
      return list('/jobs', LISTS.jobs, filterOf(values));
    case 'jobs show':
      return one(client.get(`/jobs/${encodeURIComponent(id)}`));
    case 'jobs retry':
    case 'jobs cancel':
      if (values.all) return operate(client, act as 'retry' | 'cancel', values, stderr);
      return one(client.post(`/jobs/${encodeURIComponent(id)}/${act}`));
    case 'deliveries list':
    case 'mails list':
      return list(`/${what}`, LISTS[what as 'deliveries' | 'mails'], { state: values.state });
    case 'deliveries retry':
    case 'mails retry':
      return one(client.post(`/${what}/${encodeURIComponent(id)}/retry`));
    case 'billing events':
    case 'billing purchases':
    case 'billing subscriptions':
      return list(`/billing/${act}`, LISTS.billing);
    case 'billing retry':
      return one(
        client.post(`/billing/${encodeURIComponent(id)}/${encodeURIComponent(more[0] ?? '')}/retry`),
      );
    case 'audit list':
      return list('/audit', LISTS.audit);
    default:
      return undefined;
  }
}

async function listed(
  client: AdminClient,
  path: string,
  columns: readonly Column[],
  query: Query,
  values: Values,
): Promise<Result> {
  const page = await client.rows(path, query, { limit: limitOf(values), cursor: values.cursor });
  const more = page.cursor === null ? '' : `\n\nThere are more: --cursor ${page.cursor}`;
  return { value: page, text: columnTable(columns, page.rows) + more };
}

/** Repeats requests until the operation is done. */
async function operate(
  client: AdminClient,
  act: 'retry' | 'cancel',
  values: Values,
  stderr: Streams['stderr'],
): Promise<Result> {
  let { cursor } = values;
  for (;;) {
    const body = cursor === undefined ? { filter: filterOf(values) } : { cursor };
    const progress = await client.post(`/jobs/${act}`, body).catch((error: Error) => {
      const how = cursor === undefined ? '' : `\nIt goes on with: --all --cursor ${cursor}`;
      throw new CommandError(error.message + how);
    });
    const { done, skipped } = progress as unknown as { done: number; skipped: Record<string, number> };
    const left = Object.entries(skipped).map(([code, count]) => `${count} ${code}`);
    const text = `${done} jobs ${act === 'retry' ? 'are rendered again' : 'are cancelled'}${
      left.length > 0 ? `; left alone: ${left.join(', ')}` : ''
    }.`;
    if (progress.cursor === null)
      return { value: { done, skipped }, text, exitCode: left.length > 0 ? SOME_SKIPPED : 0 };
    stderr.write(`${text}\n`);
    cursor = progress.cursor as string;
  }
}

function filterOf({ state, account, code, template, from, to }: Values) {
  const filter = { state, accountId: account, errorCode: code, templateId: template, from, to };
  return Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined));
}

function limitOf({ limit }: Values): number {
  const value = /^\d+$/.test(limit) ? Number(limit) : 0;
  if (value >= 1 && value <= MAX_ROWS) return value;
  throw new CommandError(`--limit must be an integer from 1 to ${MAX_ROWS}.`);
}

/** The id of an account that is named by its id or its address. */
async function accountId(client: AdminClient, who: string): Promise<string> {
  const { rows } = await client.rows('/accounts', { search: who }, { limit: 200, cursor: undefined });
  const named = rows.filter(({ id, email }) => [id, email].includes(who.toLowerCase()));
  if (named.length === 1) return String(named[0]!.id);
  if (named.length === 0) throw new CommandError(`There is no account ${who}.`);
  const ids = named.map(({ id }) => id).join(', ');
  throw new CommandError(`Several accounts have the address ${who}; name one by its id: ${ids}`);
}

/** What the operator has typed as the address of the account, or its id; the service compares it. */
async function confirmed(
  client: AdminClient,
  account: string,
  { stderr, stdin }: Omit<Streams, 'print'>,
): Promise<string> {
  const { email } = await client.get(`/accounts/${account}`);
  const name = email ?? account;
  stderr.write(`This deletes ${name} for good, with all that it has. Type ${name} to go on: `);
  const lines = createInterface({ input: stdin });
  for await (const line of lines) {
    lines.close();
    if (line.trim().toLowerCase() === name) return line;
    break;
  }
  throw new CommandError('Nothing is deleted: that was not the account. --yes deletes without a question.');
}

function shown(value: Body): Result {
  return { value, text: fieldTable(Object.entries(value).map(([name, field]) => [name, cell(field)])) };
}
