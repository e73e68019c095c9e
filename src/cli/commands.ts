import process from 'node:process';

/**
 * Receives the arguments after the command's name. Resolves to the exit code; nothing is 0.
 *
 * @throws CommandError or ConfigError with a message for the user.
 */
type Command = (argv: readonly string[]) => Promise<number> | Promise<void>;

const { env } = process;
const print = (text: string) => void process.stdout.write(`${text}\n`);
/** Read when a command runs: whoever names `process.stdin` opens it. */
const streams = () => ({ print, stderr: process.stderr, stdin: process.stdin });

/** Aborts when the process is told to stop. */
function signalled(): AbortSignal {
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());
  return stop.signal;
}

const COMMAND_OF = {
  accounts: async (argv) => (await import('./accounts-command.ts')).runAccountsCommand(argv, env, streams()),
  admin: async (argv) => (await import('./admin/admin-command.ts')).runAdminCommand(argv, env, streams()),
  billing: async (argv) => (await import('./billing-command.ts')).runBillingCommand(argv, env, print),
  try: async (argv) => (await import('./try-command.ts')).runTryCommand(argv, env, print),
  render: async (argv) => (await import('./render-command.ts')).runRenderCommand(argv, env, streams()),
  lint: async (argv) => (await import('./lint-command.ts')).runLintCommand(argv, env, print),
  batch: async (argv) => (await import('./batch-command.ts')).runBatchCommand(argv, env, streams()),
  async migrate(argv) {
    const { runMigrateCommand } = await import('./migrate-command.ts');
    return runMigrateCommand(argv, env, { signal: signalled() });
  },
  async 'install-seccomp-profile'(argv) {
    const { runSeccompProfileCommand } = await import('./seccomp-profile-command.ts');
    return runSeccompProfileCommand(argv, env, { signal: signalled(), print });
  },
} satisfies Record<string, Command>;

/** The commands that are no role: `platen <name> …`. Each loads only the code that it needs, so that it starts fast. */
export const COMMANDS: ReadonlyMap<string, Command> = new Map(Object.entries(COMMAND_OF));
