import { CommandError } from './cli/command-error.ts';
import { COMMANDS } from './cli/commands.ts';
import { type Config, ConfigError, loadConfig, type Role } from './config.ts';
import { report } from './roles/report.ts';
import type { RunningRole } from './roles/run-role.ts';

const ROLES: readonly Role[] = ['api', 'worker', 'dispatcher', 'controller', 'standalone'];
const USAGE = `usage: platen <${ROLES.join(' | ')}>\n       platen accounts <list | create | invite | set-plan | reset-password | revoke-tokens>\n       platen billing <setup | check>\n       platen try URL\n       platen render FILE… --out DIR\n       platen batch FILE.csv|FILE.ndjson [--template ID] --out OUT.zip|DIR`;
/** Two signals within this time are one: of a process group, the parent may pass on what its child has got already. */
const SAME_SIGNAL_MS = 1000;
/** What is left to do when nothing works any more is not waited for longer than this. */
const LAST_STEPS_MS = 10_000;

async function main(environment: NodeJS.ProcessEnv): Promise<void> {
  const command = COMMANDS.get(process.argv[2] ?? '');
  if (command !== undefined) return command(process.argv.slice(3));
  const role = ROLES.find((name) => name === process.argv[2]);
  if (role === undefined || process.argv.length > 3) {
    report(USAGE);
    process.exitCode = 2;
    return;
  }
  await run(role, loadConfig(role, environment));
}

/** Runs a role until a signal stops it: SIGTERM, Ctrl-C, or the SIGHUP of a terminal that is closed. */
async function run(role: Role, config: Config): Promise<void> {
  const startRole = await starterOf(role);
  let running: RunningRole | undefined;
  let stopping = false;
  let signalledAt = Number.NEGATIVE_INFINITY;
  const stop = (why: { signal: NodeJS.Signals } | { err: Error }, exitCode: number) => {
    stopping = true;
    running?.logger.info(why, 'stopping');
    starting
      .then((started) => started.stop())
      .then(
        () => process.exit(exitCode),
        () => process.exit(1),
      );
  };
  const onSignal = (signal: NodeJS.Signals) => {
    const now = performance.now();
    if (!stopping) {
      signalledAt = now;
      return stop({ signal }, 0);
    }
    // The second time there is no patience left; children end with their parent. But a terminal that is closed says so
    // more than once: the system to its foreground processes, the shell to its jobs.
    if (signal !== 'SIGHUP' && now - signalledAt > SAME_SIGNAL_MS) process.exit(1);
  };
  // Node ends the process after this: what it was doing is in an unknown state, and leases bring its jobs back.
  process.on('uncaughtExceptionMonitor', (error) => {
    running?.logger.fatal({ err: error }, 'ending after an error that nobody has caught');
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, onSignal);

  /** Something that the role cannot do without is gone for good. */
  const onLost = (error: Error) => {
    if (stopping) return;
    report(`platen ${role} ends: ${error.message}`);
    running?.logger.fatal({ err: error }, 'ending');
    setTimeout(() => process.exit(1), LAST_STEPS_MS).unref();
    stop({ err: error }, 1);
  };
  const starting = startRole(config, onLost);
  try {
    running = await starting;
  } catch (error) {
    // A signal that came while it started is why it did not.
    if (stopping) return;
    const { describeStartError } = await import('./roles/start-error.ts');
    report(`platen ${role} cannot start: ${describeStartError(error, config)}`);
    process.exit(1);
  }
  running.logger.info({ port: running.port }, 'ready');
  if (role === 'standalone') greet(running);
}

/** Each role loads only what it needs: a controller no browser, and nobody else the Kubernetes client. */
async function starterOf(
  role: Role,
): Promise<(config: Config, onLost: (error: Error) => void) => Promise<RunningRole>> {
  if (role === 'controller') return (await import('./roles/controller.ts')).startController;
  const { runRole } = await import('./roles/run-role.ts');
  return (config, onLost) => runRole(role, config, onLost);
}

/** What a person wants to know first. */
function greet({ port, firstKey }: RunningRole): void {
  const key =
    firstKey === undefined
      ? '$PLATEN_BOOTSTRAP_API_KEY'
      : (firstKey.madeKey ?? `$(cat ${quoted(firstKey.keyFile)})`);
  const lines = [
    '',
    `  Platen is ready at http://localhost:${port}   (API: http://localhost:${port}/docs)`,
    ...(firstKey?.madeKey === undefined
      ? []
      : [`  Your API key, kept in ${firstKey.keyFile}: ${firstKey.madeKey}`]),
    ...(firstKey === undefined
      ? []
      : [`  The dashboard, signed in (once, within an hour): ${signInUrl(port, firstKey.signInToken)}`]),
    '',
    '  Render an invoice:',
    `    curl -sS http://localhost:${port}/v1/pdf -H "X-API-Key: ${key}" -H 'Content-Type: application/json' \\`,
    '      --data @examples/invoice.json -o invoice.pdf',
    '',
  ];
  report(lines.join('\n'));
}

/** Behind the #, so that the token is sent to no server but in the request that uses it up. */
function signInUrl(port: number, token: string): string {
  return `http://localhost:${port}/dashboard/sign-in#once=${token}`;
}

/** For a line that is to be pasted into a shell. */
function quoted(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}

/**
 * Does what the command line asks for, and ends the process when that cannot be done.
 *
 * @param environment the variables that a role is set up by.
 */
export function runPlaten(environment: NodeJS.ProcessEnv): void {
  main(environment).catch((error: unknown) => {
    const isFamiliar = error instanceof ConfigError || error instanceof CommandError;
    report(
      isFamiliar ? error.message : error instanceof Error ? (error.stack ?? error.message) : String(error),
    );
    process.exit(1);
  });
}
