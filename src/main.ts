#!/usr/bin/env node
import { CommandError } from './cli/command-error.ts';
import { ConfigError, loadConfig, type Role } from './config.ts';
import type { RunningRole } from './roles/run-role.ts';

const ROLES: readonly Role[] = ['api', 'worker', 'dispatcher', 'standalone'];
const USAGE = `usage: platen <${ROLES.join(' | ')}>\n       platen accounts <list | create | set-plan | reset-password | revoke-tokens>`;

async function main(): Promise<void> {
  if (process.argv[2] === 'accounts') {
    // Each way of starting loads only what it needs: a command is to answer at once.
    const { runAccountsCommand } = await import('./cli/accounts-command.ts');
    const print = (text: string) => void process.stdout.write(`${text}\n`);
    return runAccountsCommand(process.argv.slice(3), process.env, { stdin: process.stdin, print });
  }
  const role = ROLES.find((name) => name === process.argv[2]);
  if (role === undefined || process.argv.length > 3) {
    console.error(USAGE);
    process.exitCode = 2;
    return;
  }
  const { runRole } = await import('./roles/run-role.ts');
  let running: RunningRole | undefined;
  let stopping = false;
  const stop = (signal: NodeJS.Signals) => {
    // The second time there is no patience left; children end with their parent.
    if (stopping) process.exit(1);
    stopping = true;
    running?.logger.info({ signal }, 'stopping');
    starting
      .then((role) => role?.stop())
      .then(
        () => process.exit(process.exitCode ?? 0),
        () => process.exit(1),
      );
  };
  // Node ends the process after this: what it was doing is in an unknown state, and leases bring its jobs back.
  process.on('uncaughtExceptionMonitor', (error) => {
    running?.logger.fatal({ err: error }, 'ending after an error that nobody has caught');
  });
  process.on('SIGINT', stop);
  process.on('SIGTERM', stop);

  const config = loadConfig(role, process.env);
  const starting = runRole(role, config);
  running = await starting;
  running.logger.info({ port: running.port }, 'ready');
  if (role === 'standalone') greet(running);
}

/** What a person wants to know first. On stderr: stdout carries the log. */
function greet({ port, firstKey }: RunningRole): void {
  const key =
    firstKey === undefined ? '$PLATEN_BOOTSTRAP_API_KEY' : (firstKey.madeKey ?? `$(cat ${firstKey.keyFile})`);
  const lines = [
    '',
    `  Platen is ready at http://localhost:${port}   (API: http://localhost:${port}/docs)`,
    ...(firstKey?.madeKey === undefined
      ? []
      : [`  Your API key, kept in ${firstKey.keyFile}: ${firstKey.madeKey}`]),
    '',
    '  Render an invoice:',
    `    curl -sS http://localhost:${port}/v1/pdf -H "X-API-Key: ${key}" -H 'Content-Type: application/json' \\`,
    '      --data @examples/invoice.json -o invoice.pdf',
    '',
  ];
  console.error(lines.join('\n'));
}

main().catch((error: unknown) => {
  const isFamiliar = error instanceof ConfigError || error instanceof CommandError;
  console.error(isFamiliar ? error.message : error);
  process.exit(1);
});
