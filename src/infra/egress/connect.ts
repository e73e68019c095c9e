import { connect, type LookupFunction, type Socket } from 'node:net';
import { EgressError } from './errors.ts';
import type { Target } from './host.ts';

/**
 * A `lookup` for node:net and node:tls that knows only `addresses`: Node tries them one after the other, alternating
 * between the families (RFC 8305), and never queries a name server.
 */
function pinnedLookup(addresses: readonly string[]): LookupFunction {
  const responses = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
  return (_name, options, callback) => {
    if (options.all) callback(null, responses);
    else callback(null, responses[0]!.address, responses[0]!.family);
  };
}

export interface OpenOptions {
  /** Longest wait for a connection, all addresses together, in milliseconds. */
  readonly timeoutMs: number;
  /** Aborts the attempt, and ends the connection whenever it fires. */
  readonly signal: AbortSignal;
}

/** @throws EgressError `unreachable` when no checked address takes it in time, or the signal ends the attempt. */
export function openSocket(
  target: Target,
  addresses: readonly string[],
  { timeoutMs, signal }: OpenOptions,
): Promise<Socket> {
  return new Promise((resolve, reject) => {
    // node:net would connect first and check the signal afterwards.
    if (signal.aborted) return reject(new EgressError('unreachable', 'Given up.', 'the browser has left'));
    const socket = connect({
      host: target.host.text,
      port: target.port,
      lookup: pinnedLookup(addresses),
      autoSelectFamily: true,
      noDelay: true,
      signal,
    });
    const timer = setTimeout(
      () => socket.destroy(new Error(`no connection within ${timeoutMs} ms`)),
      timeoutMs,
    );
    const fail = (error: Error) => {
      clearTimeout(timer);
      reject(
        new EgressError('unreachable', `${target.host.text} does not respond.`, String(error), {
          cause: error,
        }),
      );
    };
    // Stays for good: a socket without a listener brings the process down when it breaks.
    socket.on('error', fail);
    socket.once('connect', () => {
      clearTimeout(timer);
      resolve(socket);
    });
  });
}
