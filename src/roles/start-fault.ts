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

function describeSystemFault(fault: NodeJS.ErrnoException, config: Config): string | undefined {
  const { code, errno, syscall, path } = fault;
  if (code === undefined || errno === undefined || syscall === undefined) return undefined;
  const why = `${getSystemErrorMessage(errno)} (${code})`;
  if (syscall === 'listen' || syscall === 'getaddrinfo') return describeListenFault(code, why, config);
  if (path === undefined) return `${syscall}: ${why}`;
  return `${path}: ${why}. PLATEN_DATA_DIR (${config.PLATEN_DATA_DIR}) must be a folder that this user may write to, with room on its disk.`;
}

function describeListenFault(code: string, why: string, { PORT, PLATEN_HOST }: Config): string {
  switch (code) {
    case 'EADDRINUSE':
      return `PORT ${PORT} is taken: another program listens there (${PLATEN_HOST}:${PORT}). Set PORT to a free one, as in PORT=9000.`;
    case 'EACCES':
      return `PORT ${PORT} is not open to this user: ${why}. Set PORT to one above 1023.`;
    default:
      return `PLATEN_HOST ${PLATEN_HOST} with PORT ${PORT}: ${why}.`;
  }
}

function inspectFault(fault: unknown): string {
  return fault instanceof Error ? (fault.stack ?? fault.message) : String(fault);
}
