import { extname } from 'node:path';
import { PlatenError } from '../../infra/errors/registry.ts';
import {
  type CallTerms,
  createSandbox,
  type Sandbox,
  SandboxError,
  type SandboxLogger,
} from '../../infra/sandbox/sandbox-pool.ts';
import type { CheckedEinvoice, EinvoiceCall } from './check.ts';

/** Writes and checks the XML of invoices, in processes of their own, which are started at the first need. */
export interface EinvoiceChecker {
  /**
   * @returns the XML.
   * @throws PlatenError EINVOICE_INVALID with all that is wrong in its details; RENDER_TIMEOUT where `terms.withinMs` is over.
   */
  xmlOf(call: EinvoiceCall, terms?: CallTerms): Promise<string>;
  /** Ends the processes; calls in progress reject with UNAVAILABLE. */
  close(): Promise<void>;
}

const HEAP_MB = 256;
/** Milliseconds that one invoice may take. One of a mebibyte takes a fifth of that. */
const TIMEOUT_MS = 5000;

export function createEinvoiceChecker(options: { readonly logger?: SandboxLogger } = {}): EinvoiceChecker {
  let sandbox: Sandbox | undefined;
  let closed = false;
  return {
    async xmlOf(call, terms = {}) {
      if (closed) throw unavailable();
      sandbox ??= createSandbox({
        entry: new URL(`./check-main${extname(import.meta.url)}`, import.meta.url),
        processes: 1,
        heapMb: HEAP_MB,
        logger: options.logger,
      });
      const checked = (await sandbox.run(call, TIMEOUT_MS, terms).catch((thrown: unknown) => {
        throw thrown instanceof SandboxError ? checkError(thrown) : thrown;
      })) as CheckedEinvoice;
      if ('xml' in checked) return checked.xml;
      throw invalid(checked.faults);
    },
    async close() {
      closed = true;
      await sandbox?.close();
    },
  };
}

/** @param faults each a sentence without its full stop. */
export function invalid(faults: readonly string[]): PlatenError {
  return new PlatenError('EINVOICE_INVALID', faults[0], { details: faults });
}

function checkError(error: SandboxError): PlatenError {
  switch (error.reason) {
    case 'timeout':
    case 'memory':
      return new PlatenError(
        'EINVOICE_INVALID',
        'The invoice takes too long to be checked: it is too large.',
        {
          cause: error,
        },
      );
    case 'late':
      return new PlatenError('RENDER_TIMEOUT', 'The invoices were not checked in time.', { cause: error });
    case 'closed':
      return unavailable();
    case 'lost':
    case 'error':
      return new PlatenError('INTERNAL', 'The invoice could not be checked.', { cause: error });
  }
}

function unavailable(): PlatenError {
  return new PlatenError('UNAVAILABLE', 'No invoices are checked any more.', { retryAfterSeconds: 1 });
}
