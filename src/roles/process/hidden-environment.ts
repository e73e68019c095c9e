import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** Names the file with the variables, from the first program of a process to its second. */
const CARRIER = 'PLATEN_HIDDEN_ENVIRONMENT_FILE';
const SECRET =
  /^(?:MONGODB_URI|KAFKA_SASL_.+|STRIPE_.+|SMTP_.+|(?:HTTPS_PROXY|https_proxy)|OTEL_EXPORTER_OTLP_(?:TRACES_)?HEADERS|AWS_(?:SECRET_ACCESS_KEY|SESSION_TOKEN)|PLATEN_.*(?:SECRET|PASSWORD|KEY|TOKEN|URI))$/;

/**
 * Removes secrets from what the system shows of this process. /proc/PID/environ keeps the variables that a process was
 * started with, whatever it does to them later, and every process of the same user may read it: also a renderer without
 * its sandbox. So the process starts anew without them (execve: the same pid, the same streams) and reads them from a
 * file that only its user can read and that is deleted before any browser is started.
 *
 * Does not start anew where the system has no execve, nothing is secret, or the file cannot be written.
 *
 * @returns all variables, with the secret ones; child processes get none of these.
 */
export function hideSecrets(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const carried = environment[CARRIER];
  if (carried !== undefined) {
    delete environment[CARRIER];
    return { ...environment, ...takeUp(carried) };
  }
  const names = Object.keys(environment).filter((name) => SECRET.test(name) && environment[name] !== '');
  if (names.length === 0 || process.execve === undefined || process.platform !== 'linux') return environment;
  const file = writeDown(Object.fromEntries(names.map((name) => [name, environment[name]])));
  if (file === undefined) return environment;
  const shown = Object.fromEntries(Object.entries(environment).filter(([name]) => !names.includes(name)));
  const args = [process.argv0, ...process.execArgv, ...process.argv.slice(1)];
  return process.execve(process.execPath, args, { ...shown, [CARRIER]: file });
}

function takeUp(file: string): NodeJS.ProcessEnv {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } finally {
    rmSync(dirname(file), { recursive: true, force: true });
  }
}

/** @returns undefined when there is nowhere to write. */
function writeDown(secrets: NodeJS.ProcessEnv): string | undefined {
  try {
    const file = join(mkdtempSync(join(tmpdir(), 'platen-start-')), 'environment');
    writeFileSync(file, JSON.stringify(secrets), { mode: 0o600 });
    return file;
  } catch {
    return undefined;
  }
}
