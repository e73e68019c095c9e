import { randomBytes } from 'node:crypto';
import { text } from 'node:stream/consumers';
import { type Config, loadConfig } from '../config/config.ts';
import { PlatenError } from '../infra/errors/registry.ts';
import type { Account } from '../tenants/accounts/account-store.ts';
import { hasKnownOwner } from '../tenants/accounts/known-owner.ts';
import { emailSchema, PASSWORD_LENGTHS, passwordSchema } from '../tenants/accounts/sign-in-credentials.ts';
import { BY_OPERATOR } from '../tenants/audit/audit-log.ts';
import { FREE_PLAN } from '../tenants/plans/plan.ts';
import { BUILT_IN } from '../tenants/plans/plan-source.ts';
import { CommandError } from './command-error.ts';
import { misused, parseCommandLine } from './command-line.ts';
import { findAccount } from './find-account.ts';
import { type OpenAccounts, openAccounts } from './open-accounts.ts';
import { table } from './table.ts';

const USAGE = `usage: platen accounts <command> [--json]

  list [--limit N] [--offset N]              oldest first (default: 100)
  create EMAIL [--plan PLAN]                 prints the password that it makes
  set-plan ACCOUNT PLAN                      in force within a second
  reset-password ACCOUNT [--revoke-keys]     prints the new password; ends tokens and, with --revoke-keys, API keys
  invite [--plan PLAN] [--days N]            prints a code that registers one account, valid for 7 days
  revoke-tokens ACCOUNT                      ends every bearer token; API keys still work

ACCOUNT is an id or an e-mail address, PLAN one of ${[...BUILT_IN.plans.keys()].join(', ')},
or one from PLATEN_PLANS_FILE.
With --password-stdin, create and reset-password read the password from stdin.
The database is that of MONGODB_URI; without it, the embedded one in PLATEN_DATA_DIR, whether standalone runs or not.`;

/** What `reset-password` leaves, unless it is to revoke keys. */
const UNKNOWN_OWNER =
  'Nobody has confirmed the e-mail address of this account. Whoever registered it keeps its API keys; --revoke-keys ends them.';
const MAX_ROWS = 1000;
const PASSWORD_BYTES = 15;
const DAY_MS = 24 * 3_600_000;
const MAX_DAYS = 366;

interface Options {
  readonly plan: string;
  readonly days: string;
  readonly limit: string;
  readonly offset: string;
  readonly json: boolean;
  readonly 'password-stdin': boolean;
  readonly 'revoke-keys': boolean;
}

interface Streams {
  readonly stdin: NodeJS.ReadableStream;
  /** Receives the result, and nothing else. */
  readonly print: (text: string) => void;
}

type Run = (
  opened: OpenAccounts,
  operands: readonly string[],
  options: Options,
  stdin: NodeJS.ReadableStream,
) => Promise<Result>;

interface Result {
  /** The result for programs. */
  readonly value: unknown;
  /** The result for people. */
  readonly text: string;
}

/** Each command with the number of its operands. */
const COMMANDS: Readonly<Record<string, { readonly operands: number; readonly run: Run }>> = {
  list: {
    operands: 0,
    async run({ accounts }, _operands, { limit, offset }) {
      const some = await accounts.list(integer('limit', limit, 1, MAX_ROWS), integer('offset', offset, 0));
      return { value: some.map(shown), text: accountTable(some) };
    },
  },
  create: {
    operands: 1,
    async run({ accountService }, [email = ''], options, stdin) {
      if (!emailSchema.safeParse(email).success) throw new CommandError(`${email} is no e-mail address.`);
      const { password, made } = await passwordOf(options, stdin);
      const account = await accountService.create({ email, password, plan: options.plan }, BY_OPERATOR);
      if (account === undefined) throw new CommandError(`${email} has an account already.`);
      return one(account, made);
    },
  },
  'set-plan': {
    operands: 2,
    async run({ accounts, accountService }, [who = '', plan = '']) {
      accountService.requirePlan(plan);
      const account = await findAccount(accounts, who);
      return one(await accountService.setPlan(account, plan, BY_OPERATOR));
    },
  },
  'reset-password': {
    operands: 1,
    async run(opened, [who = ''], options, stdin) {
      const { password, made } = await passwordOf(options, stdin);
      const account = await findAccount(opened.accounts, who);
      if (options['revoke-keys']) {
        await takeOver(opened, account, password);
        return one(account, made);
      }
      await opened.accountService.resetPassword(account, password, BY_OPERATOR);
      const result = one(account, made);
      return hasKnownOwner(account) ? result : { ...result, text: `${result.text}\n\n${UNKNOWN_OWNER}` };
    },
  },
  invite: {
    operands: 0,
    async run({ accountService, invitations }, _operands, { plan, days }) {
      accountService.requirePlan(plan);
      const lifeMs = integer('days', days, 1, MAX_DAYS) * DAY_MS;
      const { secret: code, record } = await invitations.create({ plan }, lifeMs);
      const expiresAt = record.expiresAt.toISOString();
      return {
        value: { code, plan, expiresAt },
        text: `Invitation, shown this once: ${code}\nGood for one account on the plan ${plan}, until ${expiresAt}.`,
      };
    },
  },
  'revoke-tokens': {
    operands: 1,
    async run({ accounts, accountService }, [who = '']) {
      const account = await findAccount(accounts, who);
      await accountService.revokeTokens(account, BY_OPERATOR);
      return one(account);
    },
  },
};

/** `platen accounts …`. @throws CommandError, or ConfigError for an invalid environment. */
export async function runAccountsCommand(
  argv: readonly string[],
  environment: NodeJS.ProcessEnv,
  { stdin, print }: Streams,
): Promise<void> {
  const { command, operands, options } = parse(argv);
  const config: Config = loadConfig('standalone', environment);
  const opened = await openAccounts(config);
  try {
    const result = await command.run(opened, operands, options, stdin);
    print(options.json ? JSON.stringify(result.value, undefined, 2) : result.text);
  } catch (error) {
    // The user gets the message of the service's error unchanged.
    throw error instanceof PlatenError ? new CommandError(error.message) : error;
  } finally {
    await opened.close();
  }
}

/** Ends what whoever had the account before has of it; a running service cancels their work within seconds. */
async function takeOver(
  { accountService, keyService, takeover }: OpenAccounts,
  account: Account,
  password: string,
): Promise<void> {
  accountService.requirePassword(account);
  if (!(await takeover.begin(account, password, BY_OPERATOR)))
    throw new CommandError(`Account ${account._id} was taken over at the same moment.`);
  await keyService.revokeBefore(account._id, (account.ownerFence ?? 0) + 1, BY_OPERATOR);
}

const OPTIONS = {
  plan: { type: 'string', default: FREE_PLAN },
  days: { type: 'string', default: '7' },
  limit: { type: 'string', default: '100' },
  offset: { type: 'string', default: '0' },
  json: { type: 'boolean', default: false },
  'password-stdin': { type: 'boolean', default: false },
  'revoke-keys': { type: 'boolean', default: false },
} as const;

function parse(argv: readonly string[]) {
  const { positionals, values } = parseCommandLine(argv, OPTIONS, USAGE);
  const [name = '', ...operands] = positionals;
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (command === undefined || operands.length !== command.operands) {
    throw misused(name === '' ? 'What is to be done?' : `Not understood: ${argv.join(' ')}`, USAGE);
  }
  return { command, operands, options: values as Options };
}

/**
 * The password from stdin if that is requested, otherwise a generated one. It is never an argument, because every
 * process of the machine can read arguments.
 *
 * @returns `made` is the generated password, which has to be shown.
 */
async function passwordOf(
  options: Options,
  stdin: NodeJS.ReadableStream,
): Promise<{ password: string; made?: string }> {
  if (!options['password-stdin']) {
    const made = randomBytes(PASSWORD_BYTES).toString('base64url');
    return { password: made, made };
  }
  const password = (await text(stdin)).replace(/\r?\n$/, '');
  if (passwordSchema.safeParse(password).success) return { password };
  throw new CommandError(
    `The password must have ${PASSWORD_LENGTHS.min} to ${PASSWORD_LENGTHS.max} characters.`,
  );
}

function integer(name: string, given: string, min: number, max = Number.MAX_SAFE_INTEGER): number {
  const value = /^\d+$/.test(given) ? Number(given) : Number.NaN;
  if (value >= min && value <= max) return value;
  throw new CommandError(
    `--${name} must be an integer from ${min}${max < Number.MAX_SAFE_INTEGER ? ` to ${max}` : ''}.`,
  );
}

/** @param password the password that was generated for the account. */
function one(account: Account, password?: string): Result {
  const table = accountTable([account]);
  if (password === undefined) return { value: shown(account), text: table };
  return {
    value: { ...shown(account), password },
    text: `${table}\n\nPassword, shown this once: ${password}`,
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
