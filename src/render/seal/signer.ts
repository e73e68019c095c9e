import { extname, resolve } from 'node:path';
import { PlatenError } from '../../infra/errors/registry.ts';
import {
  createSandbox,
  type Sandbox,
  SandboxError,
  type SandboxLogger,
} from '../../infra/sandbox/sandbox-pool.ts';
import type { Signatory } from './check-cms.ts';
import type { SignCall, SignReply } from './sign-main.ts';

/** What a signature took, and whose it is. */
export interface Signed {
  /** CMS; DER. */
  readonly cms: Uint8Array;
  readonly signatory: Signatory;
}

export interface SignTerms {
  readonly account: string;
  /** Milliseconds until the signature is needed. */
  readonly withinMs: number;
  readonly signal: AbortSignal;
}

/** Signs with the keys of the operator, which no other process reads. */
export interface KeySigner {
  /**
   * @param digest SHA-256.
   * @throws PlatenError SEAL_FAILED; the signal's reason.
   */
  sign(keyId: string, digest: Uint8Array, terms: SignTerms): Promise<Signed>;
  close(): Promise<void>;
}

interface KeySignerOptions {
  /** Has the keys; undefined where there are none. */
  readonly folder: string | undefined;
  readonly logger: SandboxLogger;
}

/** A key of 16,384 bits takes a few seconds. Milliseconds. */
const TIMEOUT_MS = 15_000;
const HEAP_MB = 128;

/** Starts its process at the first signature. */
export function createKeySigner({ folder, logger }: KeySignerOptions): KeySigner {
  let sandbox: Sandbox | undefined;
  let closed = false;

  function start(readable: string): Sandbox {
    if (closed) throw new PlatenError('WORKER_LOST');
    const entry = new URL(`./sign-main${extname(import.meta.url)}`, import.meta.url);
    return createSandbox({ entry, processes: 1, heapMb: HEAP_MB, readable: [readable], logger });
  }

  return {
    async sign(keyId, digest, { account, withinMs, signal }) {
      if (folder === undefined) throw noKey(keyId);
      const absolute = resolve(folder);
      sandbox ??= start(absolute);
      const call: SignCall = { folder: absolute, keyId, account, digest };
      const reply = (await sandbox
        .run(call, TIMEOUT_MS, { account, withinMs, signal })
        .catch(failed)) as SignReply;
      if ('refused' in reply) throw noKey(keyId);
      if ('unusable' in reply) {
        logger.warn({ keyId, reason: reply.unusable }, 'a key that seals PDFs cannot be used');
        const message = `The key "${keyId}" cannot be used at present: the operator finds the reason in the log.`;
        throw new PlatenError('SEAL_FAILED', message, { permanent: true });
      }
      return reply;
    },
    async close() {
      closed = true;
      await sandbox?.close();
    },
  };
}

/** The same whether there is none or it is another account's. */
function noKey(keyId: string): PlatenError {
  const message = `The account has no key "${keyId}": its operator assigns keys.`;
  return new PlatenError('SEAL_FAILED', message, { permanent: true });
}

function failed(error: unknown): never {
  if (!(error instanceof SandboxError)) throw error;
  if (error.reason === 'closed' || error.reason === 'lost')
    throw new PlatenError('WORKER_LOST', undefined, { cause: error });
  throw new PlatenError('SEAL_FAILED', 'The PDF could not be signed in time.', { cause: error });
}
