import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { DOCUMENT_ORIGIN, type OwnDocument } from './document-origin.ts';

/** The cookie that identifies a page; its documents cannot read it, and it is sent to this server only. */
export const DOCUMENT_COOKIE = 'platen-document';

/** The document of one page at DOCUMENT_ORIGIN. */
export interface HostedPage {
  readonly token: string;
  /** Serves `document` from now on; an empty one without it. */
  serve(document: OwnDocument | undefined): void;
  /** Called when the page has ended: nothing is served to it any more. */
  close(): void;
}

/**
 * Serves DOCUMENT_ORIGIN over the network: to each page its own document, and nothing else. So no DevTools message has
 * to carry documents (Chromium ends when one is larger than 100 MiB), or a body that a document sends to its own
 * origin.
 */
export class DocumentHost {
  readonly #pages = new Map<string, OwnDocument>();

  /** Adds a page, to which an empty document is served at first. */
  open(): HostedPage {
    const token = randomUUID();
    this.#pages.set(token, EMPTY);
    return {
      token,
      serve: (document = EMPTY) => {
        if (this.#pages.has(token)) this.#pages.set(token, document);
      },
      close: () => {
        this.#pages.delete(token);
      },
    };
  }

  /** Responds to a request to DOCUMENT_ORIGIN, and discards its body. @returns false for another origin. */
  response(url: URL, request: IncomingMessage, response: ServerResponse): boolean {
    if (url.origin !== DOCUMENT_ORIGIN) return false;
    const document = this.#documentFor(request);
    if (document === undefined) {
      // The rest of the body is not waited for, since it may be endless.
      response.once('finish', () => {
        if (!request.complete) request.destroy();
      });
      response.writeHead(404, { 'Cache-Control': 'no-store', 'Content-Length': 0 }).end();
      return true;
    }
    const { html, csp } = document;
    const body = Buffer.from(html);
    const headers = { ...Object.fromEntries(documentHeaders(csp)), 'Content-Length': body.length };
    // The body of a form is read and discarded first: if the connection were closed during it, the response would be
    // lost.
    request.once('end', () => response.writeHead(200, headers).end(body));
    request.resume();
    return true;
  }

  /** Finds the document for the main frame of a page, which the browser marks with a field that no script can set. */
  #documentFor({ headers }: IncomingMessage): OwnDocument | undefined {
    if (headers['sec-fetch-dest'] !== 'document') return undefined;
    for (const pair of (headers.cookie ?? '').split(/; */)) {
      const [name, token = ''] = pair.split('=');
      const document = name === DOCUMENT_COOKIE ? this.#pages.get(token) : undefined;
      // A script may have set further cookies of that name.
      if (document !== undefined) return document;
    }
    return undefined;
  }
}

const EMPTY: OwnDocument = { html: '', csp: undefined };

/** The header fields of the response that carries a job's own document. */
export function documentHeaders(csp: string | undefined): [name: string, value: string][] {
  return [
    ['Content-Type', 'text/html; charset=utf-8'],
    ['Cache-Control', 'no-store'],
    // DOCUMENT_ORIGIN is internal, so it is sent to no server as a referrer.
    ['Referrer-Policy', 'no-referrer'],
    // Encoded as bytes, since a header field holds nothing else and a policy may contain any character.
    ...(csp
      ? ([['Content-Security-Policy', Buffer.from(csp).toString('latin1')]] as [string, string][])
      : []),
  ];
}
