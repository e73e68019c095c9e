import process from 'node:process';

/** Receives the arguments after the command's name. @throws CommandError or ConfigError with a message for the user. */
type Command = (argv: readonly string[]) => Promise<void>;

const print = (text: string) => void process.stdout.write(`${text}\n`);

/** Aborts when the process is told to stop. */
function signalled(): AbortSignal {
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());
  return stop.signal;
}

/** The commands that are no role: `platen <name> …`. Each loads only the code that it needs, so that it starts fast. */
export const COMMANDS: ReadonlyMap<string, Command> = new Map([
  [
    'accounts',
    async (argv) => {
      const { runAccountsCommand } = await import('./accounts-command.ts');
      return runAccountsCommand(argv, process.env, { stdin: process.stdin, print });
    },
  ],
  [
    'admin',
    async (argv) => {
      const { runAdminCommand } = await import('./admin/admin-command.ts');
      process.exitCode = await runAdminCommand(argv, process.env, {
        print,
        stderr: process.stderr,
        stdin: process.stdin,
      });
    },
  ],
  [
    'billing',
    async (argv) => {
      const { runBillingCommand } = await import('./billing-command.ts');
      process.exitCode = await runBillingCommand(argv, process.env, print);
    },
  ],
  [
    'try',
    async (argv) => {
      const { runTryCommand } = await import('./try-command.ts');
      return runTryCommand(argv, process.env, print);
    },
  ],
  [
    'render',
    async (argv) => {
      const { runRenderCommand } = await import('./render-command.ts');
      process.exitCode = await runRenderCommand(argv, process.env, { print, stderr: process.stderr });
    },
  ],
  [
    'lint',
    async (argv) => {
      const { runLintCommand } = await import('./lint-command.ts');
      process.exitCode = await runLintCommand(argv, process.env, print);
    },
  ],
  [
    'batch',
    async (argv) => {
      const { runBatchCommand } = await import('./batch-command.ts');
      process.exitCode = await runBatchCommand(argv, process.env, { print, stderr: process.stderr });
    },
  ],
  [
    'migrate',
    async (argv) => {
      const { runMigrateCommand } = await import('./migrate-command.ts');
      return runMigrateCommand(argv, process.env, { signal: signalled() });
    },
  ],
  [
    'install-seccomp-profile',
    async (argv) => {
      const { runSeccompProfileCommand } = await import('./seccomp-profile-command.ts');
      return runSeccompProfileCommand(argv, process.env, { signal: signalled(), print });
    },
  ],
] satisfies [string, Command][]);
