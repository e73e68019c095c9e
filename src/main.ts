#!/usr/bin/env node
import { ConfigError, loadConfig, type Role } from './config.ts';
import { type RunningRole, runRole } from './roles/run-role.ts';

const ROLES: readonly Role[] = ['api', 'worker', 'dispatcher', 'standalone'];
const USAGE = `usage: platen <${ROLES.join(' | ')}>`;

async function main(): Promise<void> {
  const role = ROLES.find((name) => name === process.argv[2]);
  if (role === undefined || process.argv.length > 3) {
    console.error(USAGE);
    process.exitCode = 2;
    return;
  }
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
  console.error(error instanceof ConfigError ? error.message : error);
  process.exit(1);
});
