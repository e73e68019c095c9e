import { CommandError } from './cli/command-error.ts';
import { HELP } from './cli/command-line.ts';
import { COMMANDS } from './cli/commands.ts';
import { type Config, ConfigError, loadConfig, type Role } from './config/config.ts';
import { BUILD } from './infra/version.ts';
import { printLine } from './roles/process/print-line.ts';
import type { RunningRole } from './roles/run-role.ts';
import { useProxy } from './roles/use-proxy.ts';

const ROLES: readonly Role[] = ['api', 'worker', 'dispatcher', 'controller', 'standalone'];
const USAGE = `usage: platen <${ROLES.join(' | ')}>\n       platen accounts <list | create | invite | set-plan | reset-password | revoke-tokens>\n       platen billing <setup | check>\n       platen admin <accounts | queue | workers | jobs | deliveries | mails | billing | audit>\n       platen try URL\n       platen render FILE… --out DIR\n       platen lint FILE…\n       platen batch FILE.csv|FILE.ndjson [--template ID] --out OUT.zip|DIR\n       platen migrate\n       platen --version`;
/** Signals within so many milliseconds are one: a parent may pass on a signal that its child has had already. */
const SAME_SIGNAL_MS = 1000;
/** The longest wait for the last steps of a process that has lost a component, in milliseconds. */
const LAST_STEPS_MS = 10_000;

async function main(environment: NodeJS.ProcessEnv): Promise<void> {
  if (process.argv[2] === '--version') {
    process.stdout.write(`platen ${BUILD.version} (commit ${BUILD.commit}, Node ${BUILD.node})\n`);
    return;
  }
  if (HELP.has(process.argv[2] ?? '')) {
    process.stdout.write(
      `${USAGE}\n\n\`platen COMMAND --help\` says more of a command. docs/configuration.md has the variables.\n`,
    );
    return;
  }
  const command = COMMANDS.get(process.argv[2] ?? '');
  if (command !== undefined) {
    const code = await command(process.argv.slice(3));
    if (typeof code === 'number') process.exitCode = code;
    return;
  }
  const role = ROLES.find((name) => name === process.argv[2]);
  if (role === undefined || process.argv.length > 3) {
    printLine(USAGE);
    process.exitCode = 2;
    return;
  }
  await run(role, loadConfig(role, environment));
}

/** Runs a role until a signal stops it: SIGTERM, SIGINT (Ctrl-C), or SIGHUP (a closed terminal). */
async function run(role: Role, config: Config): Promise<void> {
  useProxy(config);
  const startRole = await starterOf(role);
  let running: RunningRole | undefined;
  const stopping = new AbortController();
  let signalledAt = Number.NEGATIVE_INFINITY;
  const stop = (why: { signal: NodeJS.Signals } | { err: Error }, exitCode: number) => {
    stopping.abort(new Error('the process is told to stop'));
    running?.logger.info(why, 'stopping');
    starting
      .then((started) => started.stop())
      .then(
        () => process.exit(exitCode),
        // A start that waited for something has ended for this reason alone.
        (error) => process.exit(error === stopping.signal.reason ? exitCode : 1),
      );
  };
  const onSignal = (signal: NodeJS.Signals) => {
    const now = performance.now();
    if (!stopping.signal.aborted) {
      signalledAt = now;
      return stop({ signal }, 0);
    }
    // A second signal ends the process at once; children end with their parent. SIGHUP is an exception, because a
    // closed terminal sends it more than once: the system to the foreground processes, the shell to its jobs.
    if (signal !== 'SIGHUP' && now - signalledAt > SAME_SIGNAL_MS) process.exit(1);
  };
  // Node ends the process after this event. The state of its work is unknown, and its jobs continue when their leases
  // end.
  process.on('uncaughtExceptionMonitor', (error) => {
    running?.logger.fatal({ err: error }, 'ending after an error that nobody has caught');
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, onSignal);

  /** Called when something that the role depends on has ended for good. */
  const onLost = (error: Error) => {
    if (stopping.signal.aborted) return;
    printLine(`platen ${role} ends: ${error.message}`);
    running?.logger.fatal({ err: error }, 'ending');
    setTimeout(() => process.exit(1), LAST_STEPS_MS).unref();
    stop({ err: error }, 1);
  };
  const starting = startRole(config, onLost, stopping.signal);
  try {
    running = await starting;
  } catch (error) {
    // A signal has interrupted the start.
    if (stopping.signal.aborted) return;
    const { describeStartError } = await import('./roles/process/start-error.ts');
    printLine(`platen ${role} cannot start: ${describeStartError(error, config)}`);
    process.exit(1);
  }
  running.logger.info({ port: running.port, ...BUILD }, 'ready');
  if (role === 'standalone') greet(running);
}

type StartRole = (
  config: Config,
  onLost: (error: Error) => void,
  stopped: AbortSignal,
) => Promise<RunningRole>;

/** Loads only the code of the role: only the controller loads the Kubernetes client, and it loads no browser code. */
async function starterOf(role: Role): Promise<StartRole> {
  if (role === 'controller') return (await import('./roles/controller.ts')).startController;
  const { runRole } = await import('./roles/run-role.ts');
  return (config, onLost, stopped) => runRole(role, config, onLost, stopped);
}

/** Prints the address, the key and an example of a request. */
function greet({ port, firstKey }: RunningRole): void {
  const key =
    firstKey === undefined
      ? '$PLATEN_BOOTSTRAP_API_KEY'
      : (firstKey.madeKey ?? `$(cat ${quoted(firstKey.keyFile)})`);
  const lines = [
    '',
    `  Platen is ready at http://localhost:${port}   (documentation: http://localhost:${port}/docs)`,
    ...(firstKey?.madeKey === undefined
      ? []
      : [`  Your API key, kept in ${firstKey.keyFile}: ${firstKey.madeKey}`]),
    ...(firstKey === undefined
      ? []
      : [`  The dashboard, signed in (once, within an hour): ${signInUrl(port, firstKey.signInToken)}`]),
    '',
    '  Render an invoice:',
    `    curl -sS --fail-with-body http://localhost:${port}/v1/pdf -H "X-API-Key: ${key}" -H 'Content-Type: application/json' \\`,
    '      --data @examples/invoice.json -o invoice.pdf',
    '',
  ];
  printLine(lines.join('\n'));
}

/** The token is in the fragment, so that it is sent to no server before the request that uses it. */
function signInUrl(port: number, token: string): string {
  return `http://localhost:${port}/dashboard/sign-in#once=${token}`;
}

/** A path that can be pasted into a shell. */
function quoted(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}

/** Runs a role or command; exit code 1 when it fails. @param environment the variables that configure a role. */
export function runPlaten(environment: NodeJS.ProcessEnv): void {
  main(environment).catch((error: unknown) => {
    if (error instanceof CommandError && error.exitCode === 0) {
      process.stdout.write(`${error.message}\n`);
      return;
    }
    const isFamiliar = error instanceof ConfigError || error instanceof CommandError;
    printLine(
      isFamiliar ? error.message : error instanceof Error ? (error.stack ?? error.message) : String(error),
    );
    process.exit(1);
  });
}
