import { text } from 'node:stream/consumers';
import { parseArgs } from 'node:util';
import type { Account } from '../accounts/account-store.ts';
import { emailSchema } from '../accounts/credentials.ts';
import { type Config, loadConfig } from '../config.ts';
import { FREE_PLAN } from '../plans/plan.ts';
import { BUILT_IN } from '../plans/plan-source.ts';
import type { AccountDesk, WithPassword } from './account-desk.ts';
import { CommandError } from './command-error.ts';
import { openDesk } from './open-desk.ts';
import { table } from './table.ts';

const USAGE = `usage: platen accounts <command> [--json]

  list [--limit N] [--offset N]              oldest first, 100 unless said otherwise
  create EMAIL [--plan PLAN]                 prints the password that it makes
  set-plan ACCOUNT PLAN                      in force within a second
  reset-password ACCOUNT                     prints the new password; ends the account's tokens
  revoke-tokens ACCOUNT                      ends every bearer token; API keys go on working

ACCOUNT is an id or an e-mail address, PLAN one of ${[...BUILT_IN.plans.keys()].join(', ')},
or one of the file that PLATEN_PLANS_FILE names.
With --password-stdin, create and reset-password read the password from stdin.
The database is the one of MONGODB_URI, otherwise the embedded one in PLATEN_DATA_DIR, whether standalone runs or not.`;

const MAX_ROWS = 1000;

interface Options {
  readonly plan: string;
  readonly limit: string;
  readonly offset: string;
  readonly json: boolean;
  readonly 'password-stdin': boolean;
}

interface Streams {
  readonly stdin: NodeJS.ReadableStream;
  /** Where the answer goes, and nothing else. */
  readonly print: (text: string) => void;
}

type Run = (
  desk: AccountDesk,
  operands: readonly string[],
  options: Options,
  stdin: NodeJS.ReadableStream,
) => Promise<Result>;

interface Result {
  /** For a program. */
  readonly value: unknown;
  /** For a person. */
  readonly text: string;
}

/** Each command with the number of its operands. */
const COMMANDS: Readonly<Record<string, { readonly operands: number; readonly run: Run }>> = {
  list: {
    operands: 0,
    async run(desk, _operands, { limit, offset }) {
      const accounts = await desk.list(integer('limit', limit, 1, MAX_ROWS), integer('offset', offset, 0));
      return { value: accounts.map(shown), text: accountTable(accounts) };
    },
  },
  create: {
    operands: 1,
    async run(desk, [email = ''], options, stdin) {
      if (!emailSchema.safeParse(email).success) throw new CommandError(`${email} is no e-mail address.`);
      return withPassword(await desk.create(email, options.plan, await passwordOf(options, stdin)));
    },
  },
  'set-plan': {
    operands: 2,
    async run(desk, [who = '', plan = '']) {
      return one(await desk.setPlan(who, plan));
    },
  },
  'reset-password': {
    operands: 1,
    async run(desk, [who = ''], options, stdin) {
      return withPassword(await desk.resetPassword(who, await passwordOf(options, stdin)));
    },
  },
  'revoke-tokens': {
    operands: 1,
    async run(desk, [who = '']) {
      return one(await desk.revokeTokens(who));
    },
  },
};

/**
 * `platen accounts …`.
 *
 * @param argv what comes after `accounts`.
 * @throws CommandError, or ConfigError for a faulty environment.
 */
export async function runAccountsCommand(
  argv: readonly string[],
  environment: NodeJS.ProcessEnv,
  { stdin, print }: Streams,
): Promise<void> {
  const { command, operands, options } = parse(argv);
  const config: Config = loadConfig('standalone', environment);
  const { desk, close } = await openDesk(config);
  try {
    const result = await command.run(desk, operands, options, stdin);
    print(options.json ? JSON.stringify(result.value, undefined, 2) : result.text);
  } finally {
    await close();
  }
}

function parse(argv: readonly string[]) {
  let parsed: ReturnType<typeof parseStrictly>;
  try {
    parsed = parseStrictly(argv);
  } catch (error) {
    throw misused((error as Error).message);
  }
  const [name = '', ...operands] = parsed.positionals;
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (command === undefined || operands.length !== command.operands) {
    throw misused(name === '' ? 'What is to be done?' : `Not understood: ${argv.join(' ')}`);
  }
  return { command, operands, options: parsed.values as Options };
}

function misused(message: string): CommandError {
  return new CommandError(`${message}\n\n${USAGE}`);
}

function parseStrictly(argv: readonly string[]) {
  return parseArgs({
    args: [...argv],
    allowPositionals: true,
    strict: true,
    options: {
      plan: { type: 'string', default: FREE_PLAN },
      limit: { type: 'string', default: '100' },
      offset: { type: 'string', default: '0' },
      json: { type: 'boolean', default: false },
      'password-stdin': { type: 'boolean', default: false },
    },
  });
}

/** Never from the arguments: every process of the machine can read those. */
async function passwordOf(options: Options, stdin: NodeJS.ReadableStream): Promise<string | undefined> {
  return options['password-stdin'] ? (await text(stdin)).replace(/\r?\n$/, '') : undefined;
}

function integer(name: string, given: string, min: number, max = Number.MAX_SAFE_INTEGER): number {
  const value = /^\d+$/.test(given) ? Number(given) : Number.NaN;
  if (value >= min && value <= max) return value;
  throw new CommandError(
    `--${name} must be an integer from ${min}${max < Number.MAX_SAFE_INTEGER ? ` to ${max}` : ''}.`,
  );
}

function one(account: Account): Result {
  return { value: shown(account), text: accountTable([account]) };
}

function withPassword({ account, password }: WithPassword): Result {
  const result = one(account);
  if (password === null) return result;
  return {
    value: { ...shown(account), password },
    text: `${result.text}\n\nPassword, shown this once: ${password}`,
  };
}

function shown({ _id, email, plan, createdAt, login }: Account) {
  return { id: _id, email, plan, createdAt: createdAt.toISOString(), hasPassword: login !== undefined };
}

function accountTable(accounts: readonly Account[]): string {
  return table(
    ['ID', 'EMAIL', 'PLAN', 'CREATED', 'SIGNS IN BY'],
    accounts.map((account) => [
      account._id,
      account.email ?? '-',
      account.plan,
      account.createdAt.toISOString(),
      account.login === undefined ? 'issuer' : 'password',
    ]),
  );
}
