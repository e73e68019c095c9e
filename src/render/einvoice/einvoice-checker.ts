import { extname } from 'node:path';
import { PlatenError } from '../../infra/errors/registry.ts';
import {
  type CallerErrors,
  type CallTerms,
  createSandbox,
  errorForCaller,
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
  const sandbox = createSandbox({
    entry: new URL(`./check-main${extname(import.meta.url)}`, import.meta.url),
    processes: 1,
    startsLate: true,
    heapMb: HEAP_MB,
    logger: options.logger,
  });
  return {
    async xmlOf(call, terms = {}) {
      const checked = (await sandbox.run(call, TIMEOUT_MS, terms).catch((thrown: unknown) => {
        throw thrown instanceof SandboxError ? errorForCaller(thrown, ERRORS) : thrown;
      })) as CheckedEinvoice;
      if ('xml' in checked) return checked.xml;
      throw invalid(checked.faults);
    },
    close: () => sandbox.close(),
  };
}

/** @param faults each a sentence without its full stop. */
export function invalid(faults: readonly string[]): PlatenError {
  return new PlatenError('EINVOICE_INVALID', faults[0], { details: faults });
}

const TOO_LARGE = ['EINVOICE_INVALID', 'The invoice takes too long to be checked: it is too large.'] as const;
const ERRORS: CallerErrors = {
  timeout: TOO_LARGE,
  memory: TOO_LARGE,
  late: ['RENDER_TIMEOUT', 'The invoices were not checked in time.'],
  closed: ['UNAVAILABLE', 'No invoices are checked any more.', { retryAfterSeconds: 1 }],
  lost: ['INTERNAL', 'The invoice could not be checked.'],
  error: ['INTERNAL', 'The invoice could not be checked.'],
};
