import { isIPv6 } from 'node:net';
import { getSystemErrorMessage } from 'node:util';
import type { Config } from '../../config/config.ts';

/** Errors of the language itself: a bug of Platen, and only the stack says where. */
const OURS: ReadonlySet<string> = new Set([
  'TypeError',
  'RangeError',
  'ReferenceError',
  'SyntaxError',
  'AssertionError',
]);

/** Why a role does not start, in one line: what, where and why. An unforeseen error keeps its stack. */
export function describeStartError(error: unknown, config: Config): string {
  if (!(error instanceof Error) || OURS.has(error.name)) return inspectError(error);
  const known = describeSystemError(error, config);
  if (known !== undefined) return known;
  if (error.name === 'MongooseServerSelectionError')
    return `MONGODB_URI: no database responds: ${error.message}`;
  return error.message.replaceAll(/\s*\n\s*/g, ' ');
}

/** A system's error; of `listen` with the port. */
type ListenError = NodeJS.ErrnoException & { readonly port?: number };

function describeSystemError(error: ListenError, config: Config): string | undefined {
  const { code, errno, syscall, path } = error;
  if (code === undefined || errno === undefined || syscall === undefined) return undefined;
  const why = `${getSystemErrorMessage(errno)} (${code})`;
  if (syscall === 'listen' || syscall === 'getaddrinfo') return describeListenError(error, why, config);
  if (path === undefined) return `${syscall}: ${why}`;
  return `${path}: ${why}. PLATEN_DATA_DIR (${config.PLATEN_DATA_DIR}) must be a folder that this user may write to, with room on its disk.`;
}

function describeListenError(error: ListenError, why: string, config: Config): string {
  const { PLATEN_HOST = '::' } = config;
  // An invalid address has no port.
  const port = error.port ?? config.PORT;
  const name = port === config.PORT ? 'PORT' : 'PLATEN_OPS_PORT';
  switch (error.code) {
    case 'EADDRINUSE':
      return `${name} ${port} is taken: another program listens there (${isIPv6(PLATEN_HOST) ? `[${PLATEN_HOST}]` : PLATEN_HOST}:${port}). Set ${name} to a free one, as in ${name}=9000.`;
    case 'EACCES':
      return `${name} ${port} is not open to this user: ${why}. Set ${name} to one above 1023.`;
    default:
      return `PLATEN_HOST ${PLATEN_HOST} with ${name} ${port}: ${why}.`;
  }
}

function inspectError(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
