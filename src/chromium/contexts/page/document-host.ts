import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { DOCUMENT_ORIGIN, type OwnDocument } from './document-origin.ts';

/** By this cookie a page is known; its documents do not see it, and no server but this one is sent it. */
export const DOCUMENT_COOKIE = 'platen-document';

/** What one page finds at DOCUMENT_ORIGIN over the network. */
export interface HostedPage {
  /** The value of its cookie. */
  readonly token: string;
  /** Has `document` found; without one, an empty one is found. */
  serve(document: OwnDocument | undefined): void;
  /** The page has ended: from here on it finds nothing. */
  close(): void;
}

/**
 * What is found at DOCUMENT_ORIGIN over the network: for each page its own document, and nothing else. So no DevTools
 * message has to carry documents (Chromium ends when one is larger than 100 MiB), and none carries what a document sends
 * to its own origin.
 */
export class DocumentHost {
  readonly #pages = new Map<string, OwnDocument>();

  /** Another page is there, which finds an empty document. */
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

  /**
   * Answers a request to DOCUMENT_ORIGIN, whatever it asks for. What it sends is not kept.
   *
   * @returns false for a request to elsewhere, which is left alone.
   */
  response(url: URL, request: IncomingMessage, response: ServerResponse): boolean {
    if (url.origin !== DOCUMENT_ORIGIN) return false;
    const document = this.#documentFor(request);
    if (document === undefined) {
      // What is still being sent is not waited for: it may be without end.
      response.once('finish', () => {
        if (!request.complete) request.destroy();
      });
      response.writeHead(404, { 'Cache-Control': 'no-store', 'Content-Length': 0 }).end();
      return true;
    }
    const { html, csp } = document;
    const body = Buffer.from(html);
    const headers = { ...Object.fromEntries(documentHeaders(csp)), 'Content-Length': body.length };
    // A form's own content is thrown away as it comes: a connection that is closed on it would take the answer along.
    request.once('end', () => response.writeHead(200, headers).end(body));
    request.resume();
    return true;
  }

  /** Only for a page's main frame: the browser says so in a field that no script can set. */
  #documentFor({ headers }: IncomingMessage): OwnDocument | undefined {
    if (headers['sec-fetch-dest'] !== 'document') return undefined;
    for (const pair of (headers.cookie ?? '').split(/; */)) {
      const [name, token = ''] = pair.split('=');
      const document = name === DOCUMENT_COOKIE ? this.#pages.get(token) : undefined;
      // A script may have set others of that name.
      if (document !== undefined) return document;
    }
    return undefined;
  }
}

const EMPTY: OwnDocument = { html: '', csp: undefined };

/** The header fields that a job's own document is sent with. */
export function documentHeaders(csp: string | undefined): [name: string, value: string][] {
  return [
    ['Content-Type', 'text/html; charset=utf-8'],
    ['Cache-Control', 'no-store'],
    // DOCUMENT_ORIGIN is nobody's: nobody is told of it.
    ['Referrer-Policy', 'no-referrer'],
    // As bytes: a field holds nothing else, and whoever writes a policy may write anything.
    ...(csp
      ? ([['Content-Security-Policy', Buffer.from(csp).toString('latin1')]] as [string, string][])
      : []),
  ];
}
