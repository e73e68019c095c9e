import { access, readdir } from 'node:fs/promises';
import { extname, join, resolve } from 'node:path';
import { PlatenError } from '../../infra/errors/registry.ts';
import { createSandbox, SandboxError, type SandboxLogger } from '../../infra/sandbox/sandbox-pool.ts';
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
/** Modules take their time, and sign for several at once. */
const MODULE_PROCESSES = 4;
/** The ending of the file that says where a key is that is in a module. */
const MODULE = '.pkcs11';

/** Starts its processes at the first signature: one for keys in files, and one, which may start programs, for modules. */
export function createKeySigner({ folder, logger }: KeySignerOptions): KeySigner {
  const absolute = folder === undefined ? undefined : resolve(folder);
  const readable = absolute === undefined ? [] : [absolute];
  const entry = new URL(`./sign-main${extname(import.meta.url)}`, import.meta.url);
  const process = { entry, heapMb: HEAP_MB, readable, startsLate: true, logger };
  const ofFiles = createSandbox({ ...process, processes: 1 });
  const ofModules = createSandbox({ ...process, processes: MODULE_PROCESSES, startsPrograms: true });

  const warn = (keyId: string, reason: string) =>
    logger.warn({ keyId, reason }, 'a key that seals PDFs cannot be used');

  async function tryModules(from: string): Promise<void> {
    const files = await readdir(from).catch(() => []);
    for (const keyId of files
      .filter((file) => file.endsWith(MODULE))
      .map((file) => file.slice(0, -MODULE.length))) {
      const call: SignCall = { folder: from, keyId };
      const reply = (await ofModules.run(call, TIMEOUT_MS)) as SignReply;
      if ('unusable' in reply) warn(keyId, reply.unusable);
    }
  }

  // Who has a module without its program finds that in the log at the start.
  if (absolute !== undefined) tryModules(absolute).catch(() => undefined);

  return {
    async sign(keyId, digest, { account, withinMs, signal }) {
      if (absolute === undefined) throw noKey(keyId);
      const isInModule = await access(join(absolute, keyId + MODULE)).then(
        () => true,
        () => false,
      );
      const call: SignCall = { folder: absolute, keyId, account, digest };
      const reply = (await (isInModule ? ofModules : ofFiles)
        .run(call, TIMEOUT_MS, { account, withinMs, signal })
        .catch(failed)) as SignReply;
      if ('cms' in reply) return reply;
      if (!('unusable' in reply)) throw noKey(keyId);
      warn(keyId, reply.unusable);
      const message = `The key "${keyId}" cannot be used at present: the operator finds the reason in the log.`;
      throw new PlatenError('SEAL_FAILED', message, { permanent: true });
    },
    async close() {
      await Promise.all([ofFiles.close(), ofModules.close()]);
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
