import { CmsFault, checkCms, type Signatory } from './check-cms.ts';
import { type StampCall, signatureHash, stampCms, type Timestamp } from './timestamp.ts';

/** A signature that somebody has sent, and what it is to sign. */
interface CheckCall {
  readonly cms: Uint8Array;
  /** SHA-256. */
  readonly digest: Uint8Array;
  /** In milliseconds since 1970. */
  readonly now: number;
}

export type SealCall = CheckCall | StampCall;

interface Fault {
  /** In words that follow "The signature" or "The time stamp". */
  readonly fault: string;
}

export type CheckedCms =
  | {
      readonly signatory: Signatory;
      /** SHA-256 of the signature, for a time stamp. */
      readonly signatureHash: Uint8Array;
    }
  | Fault;

export type StampedCms = { readonly cms: Uint8Array; readonly timestamp: Timestamp } | Fault;

/** Reads what may be anything. */
export function readCms(call: SealCall): CheckedCms | StampedCms {
  try {
    if ('response' in call) return stampCms(call);
    const { cms, digest, now } = call;
    return { signatory: checkCms(cms, digest, now), signatureHash: signatureHash(cms) };
  } catch (error) {
    return { fault: error instanceof CmsFault ? error.message : 'cannot be read' };
  }
}
