import type { Readable, Writable } from 'node:stream';
import type { ConnectionTransport } from 'puppeteer';

/**
 * The largest message that is accepted from a browser, in bytes. The largest one that is ever requested is a piece of a
 * PDF (see print.ts); only a document can cause a larger one.
 */
export const MAX_MESSAGE_BYTES = 8 * 1024 * 1024;

/** Limits on the events that the page of one session may cause while one document is in it. */
export const SESSION_LIMITS = {
  events: 100_000,
  bytes: 128 * 1024 * 1024,
  /** Frames of web sockets, which are never read here. */
  frameBytes: 8 * 1024 * 1024,
};

/** The error of a command whose response was too large, where that is not the end of its page. */
export const LARGE_RESPONSE = `The response has more than ${MAX_MESSAGE_BYTES} bytes.`;

/** Called with the limit that a session has exceeded. */
type OnLimitExceeded = (what: string) => void;

/** A session whose events are counted. */
export interface CountedSession {
  /** Counts the events of another session together with this one's, until `reset`. */
  include(sessionId: string): void;
  /** Restarts the count, because another document comes into the page. */
  reset(): void;
  /** Sets whether a response that is too large fails its command, in place of exceeding a limit; at first it does not. */
  failLargeResponses(fail: boolean): void;
  /** The session is over. */
  stop(): void;
}

interface Count {
  events: number;
  bytes: number;
  frameBytes: number;
  /** Further messages of the session are dropped. */
  exceeded: boolean;
  failsLargeResponses: boolean;
  readonly onLimitExceeded: OnLimitExceeded;
}

/** The session id at the end of a message: Chromium appends it to a message that is otherwise complete. */
const SESSION = /"sessionId":"([^"\\]+)"\}$/;
/** Long enough for a session id (32 hexadecimal digits) and for the name of a method. */
const PART_BYTES = 96;
/** Responses to commands, which are not counted. */
const RESPONSE = /^\{"id":(\d+)/;
/** Events that nothing waits for, and that may be dropped. */
const DISPENSABLE = /^\{"method":"Network\./;
const FRAME = /^\{"method":"Network\.webSocketFrame/;
/** The event of every new title and address of a page, which is never used here. */
const UNREAD = '{"method":"Target.targetInfoChanged"';

/**
 * The pipe to a browser, with limits on what documents can make it carry: the size of a message, and the number and
 * total size of the events of one document. Once a limit is exceeded, further messages of the session are dropped, and
 * `onLimitExceeded` is called so that the page can be ended. Dropped messages are neither decoded nor parsed, so they
 * cost no more than reading the pipe.
 */
export class BoundedPipe implements ConnectionTransport {
  onmessage?: (message: string) => void;
  onclose?: () => void;
  readonly #write: Writable;
  readonly #read: Readable;
  readonly #counts = new Map<string, Count>();
  /** The parts of a message whose end has not arrived. */
  #chunks: Buffer[] = [];
  #length = 0;
  /** The last bytes of a message that is too large; of such a message only its beginning and its end are kept. */
  #tail: Buffer | undefined;
  #closed = false;
  /** Messages that are sent together: each write costs a system call here and wakes a thread in the browser. */
  #unsent: string[] = [];

  constructor(write: Writable, read: Readable) {
    this.#write = write;
    this.#read = read;
    read.on('data', this.#onData);
    read.once('close', () => {
      if (!this.#closed) this.onclose?.();
    });
    // The end of a browser is noticed by the close of `read`.
    for (const pipe of [read, write]) pipe.on('error', () => undefined);
  }

  send(message: string): void {
    if (this.#closed) return;
    this.#unsent.push(message);
    // After all that is ready to run now, of every render: so what resets a page goes with the next document's content.
    if (this.#unsent.length === 1) setImmediate(this.#sendAll);
  }

  close(): void {
    this.#sendAll();
    this.#closed = true;
    this.#read.off('data', this.#onData);
    this.#read.resume();
  }

  /** Counts the events of a session. @param onLimitExceeded called once, when the session has exceeded a limit. */
  count(sessionId: string, onLimitExceeded: OnLimitExceeded): CountedSession {
    const count: Count = {
      events: 0,
      bytes: 0,
      frameBytes: 0,
      exceeded: false,
      failsLargeResponses: false,
      onLimitExceeded,
    };
    this.#counts.set(sessionId, count);
    let included: string[] = [];
    const exclude = () => {
      for (const other of included) this.#counts.delete(other);
      included = [];
    };
    return {
      failLargeResponses(fail) {
        count.failsLargeResponses = fail;
      },
      include: (other) => {
        included.push(other);
        this.#counts.set(other, count);
      },
      reset() {
        exclude();
        count.events = 0;
        count.bytes = 0;
        count.frameBytes = 0;
      },
      stop: () => {
        exclude();
        this.#counts.delete(sessionId);
      },
    };
  }

  readonly #sendAll = (): void => {
    const messages = this.#unsent;
    this.#unsent = [];
    if (messages.length > 0 && !this.#write.destroyed) this.#write.write(`${messages.join('\0')}\0`);
  };

  readonly #onData = (chunk: Buffer): void => {
    let start = 0;
    for (let end = chunk.indexOf(0); end !== -1; end = chunk.indexOf(0, start)) {
      this.#take(chunk.subarray(start, end));
      this.#finish();
      start = end + 1;
    }
    if (start < chunk.length) this.#take(chunk.subarray(start));
  };

  #take(part: Buffer): void {
    this.#length += part.length;
    if (this.#length <= MAX_MESSAGE_BYTES) {
      this.#chunks.push(part);
      return;
    }
    if (this.#tail === undefined) {
      const begun = Buffer.concat(this.#chunks);
      this.#chunks = [Buffer.from(begun.subarray(0, PART_BYTES))];
      this.#tail = begun.subarray(-PART_BYTES);
    }
    const last = part.length < PART_BYTES ? Buffer.concat([this.#tail, part]) : part;
    this.#tail = Buffer.from(last.subarray(-PART_BYTES));
  }

  #finish(): void {
    const [chunks, length, tail] = [this.#chunks, this.#length, this.#tail];
    this.#chunks = [];
    this.#length = 0;
    this.#tail = undefined;
    const message = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
    const head = message.toString('latin1', 0, PART_BYTES);
    if (head.startsWith(UNREAD)) return;
    const end = tail ?? message;
    const sessionId = SESSION.exec(end.toString('latin1', Math.max(0, end.length - PART_BYTES)))?.[1];
    if (this.#passes(sessionId, head, length)) this.#deliver(message.toString());
    else if (length > MAX_MESSAGE_BYTES) this.#failCommand(sessionId, head);
  }

  /** Responds to a command whose response was too large, if its session wants to know. */
  #failCommand(sessionId: string | undefined, head: string): void {
    const id = RESPONSE.exec(head)?.[1];
    if (id === undefined || !this.#counts.get(sessionId ?? '')?.failsLargeResponses) return;
    const error = { code: -32000, message: LARGE_RESPONSE };
    this.#deliver(JSON.stringify({ id: Number(id), error, sessionId }));
  }

  /** Whether a message is to be delivered. */
  #passes(sessionId: string | undefined, head: string, length: number): boolean {
    const tooLarge = length > MAX_MESSAGE_BYTES;
    const count = sessionId === undefined ? undefined : this.#counts.get(sessionId);
    if (count === undefined) return !tooLarge;
    if (count.exceeded) return false;
    const response = RESPONSE.test(head);
    if (!response) {
      count.events++;
      count.bytes += length;
      if (FRAME.test(head)) count.frameBytes += length;
    }
    const dropped = response ? count.failsLargeResponses : DISPENSABLE.test(head);
    const error = errorOf(count, tooLarge && !dropped);
    if (error === undefined) return !tooLarge;
    count.exceeded = true;
    count.onLimitExceeded(error);
    return false;
  }

  /** Delivers one message at a time, so that its consequences are done before the next. */
  #deliver(message: string): void {
    setImmediate(() => this.onmessage?.(message));
  }
}

function errorOf({ events, bytes, frameBytes }: Count, tooLarge: boolean): string | undefined {
  if (tooLarge) return `a message of more than ${MAX_MESSAGE_BYTES} bytes`;
  if (events > SESSION_LIMITS.events) return `more than ${SESSION_LIMITS.events} events`;
  if (frameBytes > SESSION_LIMITS.frameBytes) {
    return `web-socket frames of more than ${SESSION_LIMITS.frameBytes} bytes`;
  }
  if (bytes > SESSION_LIMITS.bytes) return `events of more than ${SESSION_LIMITS.bytes} bytes`;
  return undefined;
}
