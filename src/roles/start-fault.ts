import { isIPv6 } from 'node:net';
import { getSystemErrorMessage } from 'node:util';
import type { Config } from '../config.ts';

/** Errors of the language itself: a fault of ours, and only the stack says where. */
const OURS: ReadonlySet<string> = new Set([
  'TypeError',
  'RangeError',
  'ReferenceError',
  'SyntaxError',
  'AssertionError',
]);

/**
 * What keeps a role from starting, in one line for the person who started it: what, where and why. What nobody has
 * foreseen keeps its stack.
 */
export function describeStartFault(fault: unknown, config: Config): string {
  if (!(fault instanceof Error) || OURS.has(fault.name)) return inspectFault(fault);
  const known = describeSystemFault(fault, config);
  if (known !== undefined) return known;
  if (fault.name === 'MongooseServerSelectionError')
    return `MONGODB_URI: no database answers: ${fault.message}`;
  return fault.message.replaceAll(/\s*\n\s*/g, ' ');
}

/** A system's error; of `listen` with the port. */
type ListenFault = NodeJS.ErrnoException & { readonly port?: number };

function describeSystemFault(fault: ListenFault, config: Config): string | undefined {
  const { code, errno, syscall, path } = fault;
  if (code === undefined || errno === undefined || syscall === undefined) return undefined;
  const why = `${getSystemErrorMessage(errno)} (${code})`;
  if (syscall === 'listen' || syscall === 'getaddrinfo') return describeListenFault(fault, why, config);
  if (path === undefined) return `${syscall}: ${why}`;
  return `${path}: ${why}. PLATEN_DATA_DIR (${config.PLATEN_DATA_DIR}) must be a folder that this user may write to, with room on its disk.`;
}

function describeListenFault(fault: ListenFault, why: string, config: Config): string {
  const { PLATEN_HOST = '::' } = config;
  // An address that is none has no port.
  const port = fault.port ?? config.PORT;
  const name = port === config.PORT ? 'PORT' : 'PLATEN_OPS_PORT';
  switch (fault.code) {
    case 'EADDRINUSE':
      return `${name} ${port} is taken: another program listens there (${isIPv6(PLATEN_HOST) ? `[${PLATEN_HOST}]` : PLATEN_HOST}:${port}). Set ${name} to a free one, as in ${name}=9000.`;
    case 'EACCES':
      return `${name} ${port} is not open to this user: ${why}. Set ${name} to one above 1023.`;
    default:
      return `PLATEN_HOST ${PLATEN_HOST} with ${name} ${port}: ${why}.`;
  }
}

function inspectFault(fault: unknown): string {
  return fault instanceof Error ? (fault.stack ?? fault.message) : String(fault);
}
