/** A response that proves nothing, in words that follow "The OCSP response" or "The revocation list". */
export class RevocationFault extends Error {}

/** The certificate has been revoked. */
export class Revoked extends Error {}

/** By how much the clock of a server may be before the one here, in milliseconds. */
export const CLOCK_SLACK_MS = 300_000;
