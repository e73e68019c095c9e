import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { DOCUMENT_ORIGIN } from './document-origin.ts';
import type { OwnDocument } from './interceptor.ts';

/** Names the document that a request is for; the page that it is loaded in sees nothing of it. */
export const DOCUMENT_HEADER = 'x-platen-document';

/** A document that can be fetched over the network, from this process. */
export interface HostedDocument {
  readonly token: string;
  /** From here on it is not found. */
  withdraw(): void;
}

/**
 * What is found at DOCUMENT_ORIGIN over the network: large documents, which no DevTools message has to carry (Chromium
 * ends when one is larger than 100 MiB), each for who knows its token; and nothing else.
 */
export class DocumentHost {
  readonly #documents = new Map<string, { readonly body: Buffer; readonly csp: string | undefined }>();

  publish({ html, csp }: OwnDocument): HostedDocument {
    const token = randomUUID();
    this.#documents.set(token, { body: Buffer.from(html), csp });
    return {
      token,
      withdraw: () => {
        this.#documents.delete(token);
      },
    };
  }

  /**
   * Answers a request to DOCUMENT_ORIGIN, whatever it asks for, without reading what it sends.
   *
   * @returns false for a request to elsewhere, which is left alone.
   */
  answer(url: URL, request: IncomingMessage, response: ServerResponse): boolean {
    if (url.origin !== DOCUMENT_ORIGIN) return false;
    const token = request.headers[DOCUMENT_HEADER];
    const document = typeof token === 'string' ? this.#documents.get(token) : undefined;
    // What is still being sent is not waited for: it may be without end.
    response.once('finish', () => {
      if (!request.complete) request.destroy();
    });
    if (document === undefined) {
      response.writeHead(404, { 'Cache-Control': 'no-store', 'Content-Length': 0 }).end();
      return true;
    }
    const { body, csp } = document;
    response.writeHead(200, { ...Object.fromEntries(documentHeaders(csp)), 'Content-Length': body.length });
    response.end(body);
    return true;
  }
}

/** The header fields that a job's own document is sent with. */
export function documentHeaders(csp: string | undefined): [name: string, value: string][] {
  return [
    ['Content-Type', 'text/html; charset=utf-8'],
    ['Cache-Control', 'no-store'],
    // DOCUMENT_ORIGIN is nobody's: nobody is told of it.
    ['Referrer-Policy', 'no-referrer'],
    ...(csp ? ([['Content-Security-Policy', csp]] as [string, string][]) : []),
  ];
}
