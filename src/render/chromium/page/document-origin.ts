/**
 * The origin of documents given as HTML. Names below `localhost` are kept from the DNS (RFC 6761) and count as secure
 * without TLS: scripts get the same features as under https, and documents may fetch from http and https alike.
 * Requests to this origin never leave the service. Every context has storage and cache of its own, so one name serves
 * them all.
 */
export const DOCUMENT_ORIGIN = 'http://document.localhost';

/** The document served at DOCUMENT_ORIGIN: the job's document, instead of an empty one. */
export interface OwnDocument {
  readonly html: string;
  /** A Content-Security-Policy to send with it. */
  readonly csp: string | undefined;
}
