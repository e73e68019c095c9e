import type { CDPSession, Protocol } from 'puppeteer';
import { Semaphore } from '../../../infra/async/semaphore.ts';

type Paused = Protocol.Fetch.RequestPausedEvent;

/** Header fields that describe how a body was sent. */
const FRAMING: ReadonlySet<string> = new Set(['content-encoding', 'content-length', 'transfer-encoding']);

/** Bytes of a render's documents, with frames, to which a policy is added: they pass through this process. */
const MAX_REWRITTEN_BYTES = 16 * 1024 * 1024;
/** Bytes requested at a time. */
const CHUNK = 1024 * 1024;

/** Adds a Content-Security-Policy to the responses that carry the documents of one render. */
export class PolicyRewriting {
  readonly #session: CDPSession;
  readonly #policy: string;
  readonly #onLimitExceeded: (what: string) => void;
  #hasEnded = false;
  #bytesLeft = MAX_REWRITTEN_BYTES;
  /** The same limit applied to the lengths that servers announce, before anything is read. */
  #announcedLeft = MAX_REWRITTEN_BYTES;
  /** One document passes at a time; the others stay in the browser, and are not held in memory here. */
  readonly #passing = new Semaphore(1);

  /** @param onLimitExceeded called when the documents are larger than may pass through this process. */
  constructor(session: CDPSession, policy: string, onLimitExceeded: (what: string) => void) {
    this.#session = session;
    this.#policy = policy;
    this.#onLimitExceeded = onLimitExceeded;
  }

  /** The render has ended: responses that still pass are not delivered. */
  end(): void {
    this.#hasEnded = true;
  }

  /**
   * Continues a paused response under the policy. The response's own policy stays in force, since policies only ever
   * add up. The response is fulfilled anew rather than continued with a further header: Chromium shows such a header to
   * scripts but does not obey it, as it has read the policies by then.
   *
   * @throws when the render has ended meanwhile, or the response cannot be read; the request is to be failed then.
   */
  async continueResponse(event: Paused): Promise<void> {
    const { requestId, responseStatusCode: status } = event;
    if (status === undefined || isRedirect(status)) {
      await this.#session.send('Fetch.continueResponse', { requestId });
      return;
    }
    this.#announcedLeft -= announcedBytes(event);
    if (this.#announcedLeft < 0) {
      this.#reportLimitExceeded();
      return;
    }
    await this.#passing.run(() => this.#respondUnderPolicy(event, status));
  }

  async #respondUnderPolicy(event: Paused, status: number): Promise<void> {
    const { requestId } = event;
    const body = await this.#bodyOf(requestId);
    if (this.#hasEnded) throw new Error('The rest of a render that has ended must not reach the next one.');
    if (body === undefined) {
      this.#reportLimitExceeded();
      return;
    }
    // The body is decoded and in one piece.
    const kept = (event.responseHeaders ?? []).filter(({ name }) => !FRAMING.has(name.toLowerCase()));
    await this.#session.send('Fetch.fulfillRequest', {
      requestId,
      responseCode: status,
      responseHeaders: [...kept, { name: 'Content-Security-Policy', value: this.#policy }],
      body: body.toString('base64'),
    });
  }

  /** @returns undefined when the body is larger than the bytes left to the render, or the render has ended. */
  async #bodyOf(requestId: string): Promise<Buffer | undefined> {
    if (this.#bytesLeft < 0 || this.#hasEnded) return undefined;
    const { stream: handle } = await this.#session.send('Fetch.takeResponseBodyAsStream', { requestId });
    const chunks: Buffer[] = [];
    let bytes = 0;
    for (let eof = false; !eof && this.#bytesLeft >= 0; ) {
      const piece = await this.#session.send('IO.read', { handle, size: CHUNK });
      const chunk = Buffer.from(piece.data, piece.base64Encoded ? 'base64' : 'utf8');
      chunks.push(chunk);
      bytes += chunk.length;
      this.#bytesLeft -= chunk.length;
      eof = piece.eof;
    }
    this.#session.send('IO.close', { handle }).catch(() => undefined);
    return this.#bytesLeft < 0 ? undefined : Buffer.concat(chunks, bytes);
  }

  #reportLimitExceeded(): void {
    this.#onLimitExceeded(
      `documents of more than ${MAX_REWRITTEN_BYTES} bytes under a policy of the render's`,
    );
  }
}

/** The length of a response's body as sent, by its header; 0 without one. A compressed body mostly gets longer. */
function announcedBytes({ responseHeaders = [] }: Paused): number {
  const length = responseHeaders.find(({ name }) => name.toLowerCase() === 'content-length')?.value ?? '';
  return /^\d{1,15}$/.test(length) ? Number(length) : 0;
}

function isRedirect(status: number): boolean {
  return status >= 300 && status < 400;
}
