/**
 * What HTML is loaded under. Names below `localhost` are kept from the DNS (RFC 6761) and count as secure without TLS:
 * scripts get what they get under https, and documents may fetch from http and https alike. Requests to it are answered
 * in the browser and reach nothing. Every context has storage and cache of its own, so one name serves them all.
 */
export const DOCUMENT_ORIGIN = 'http://document.localhost';

/** What is found at DOCUMENT_ORIGIN: the job's document, in place of an empty one. */
export interface OwnDocument {
  readonly html: string;
  /** A Content-Security-Policy to send with it. */
  readonly csp: string | undefined;
}
