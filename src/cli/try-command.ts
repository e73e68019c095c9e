import { type Config, loadConfig } from '../config/config.ts';
import { BY_OPERATOR } from '../tenants/audit/audit-log.ts';
import { FREE_PLAN } from '../tenants/plans/plan.ts';
import { misused, parseCommandLine } from './command-line.ts';
import { openAccounts } from './open-accounts.ts';
import { type Rendered, renderOnce } from './render-once.ts';

const USAGE = `usage: platen try URL [--timeout SECONDS]

Renders one small document through the API at URL, with an account of its own and a key that is revoked afterwards. Exits with
0 if the response is a PDF. It waits for a service that is still starting (default: 60 s). MONGODB_URI is the database.`;

/** The account has no password, so nobody can sign in to it. */
const ACCOUNT = { email: 'platen-try@platen.invalid', password: null, plan: FREE_PLAN };
const DEFAULT_TIMEOUT_S = 60;
const MAX_TIMEOUT_S = 3600;

/**
 * `platen try …`, which `helm test` runs.
 *
 * @param argv the arguments after `try`.
 * @throws CommandError with the reason why it does not work, or ConfigError for an invalid environment.
 */
export async function runTryCommand(
  argv: readonly string[],
  environment: NodeJS.ProcessEnv,
  print: (text: string) => void,
): Promise<void> {
  const { url, timeoutMs } = parse(argv);
  const config: Config = loadConfig('standalone', environment);
  const opened = await openAccounts(config);
  let rendered: Rendered;
  try {
    const { account } = await opened.accountService.findOrCreate(ACCOUNT, BY_OPERATOR);
    // In test mode: the key uses no quota, and its PDFs have a watermark.
    const fields = { name: 'platen try', mode: 'test', allowedIps: [] } as const;
    const { secret, key } = await opened.keyService.create(account, fields, BY_OPERATOR);
    try {
      rendered = await renderOnce({ url, key: secret, signal: AbortSignal.timeout(timeoutMs) });
    } finally {
      await opened.keyService.revoke(account._id, key._id, BY_OPERATOR);
    }
  } finally {
    await opened.close();
  }
  print(`${url} rendered a PDF of ${rendered.bytes} bytes in ${Math.round(rendered.tookMs)} ms.`);
}

function parse(argv: readonly string[]): { url: URL; timeoutMs: number } {
  const given = { timeout: { type: 'string', default: String(DEFAULT_TIMEOUT_S) } } as const;
  const { positionals, values } = parseCommandLine(argv, given, USAGE);
  const [address = '', ...more] = positionals;
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || more.length > 0) {
    throw misused(
      address === '' ? 'Which service is to be tried?' : `Not an http or https address: ${argv.join(' ')}`,
      USAGE,
    );
  }
  const seconds = Number(values.timeout);
  if (!Number.isInteger(seconds) || seconds < 1 || seconds > MAX_TIMEOUT_S) {
    throw misused(`--timeout must be an integer from 1 to ${MAX_TIMEOUT_S}.`, USAGE);
  }
  return { url, timeoutMs: seconds * 1000 };
}
