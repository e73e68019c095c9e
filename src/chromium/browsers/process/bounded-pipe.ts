import type { Readable, Writable } from 'node:stream';
import type { ConnectionTransport } from 'puppeteer';

/**
 * The largest message that is taken from a browser, in bytes. The largest that is ever asked for is a piece of a PDF
 * (see print.ts); more can only be a document's doing.
 */
export const MAX_MESSAGE_BYTES = 8 * 1024 * 1024;

/** What the page of one session may cause to be reported here while one document is in it. */
export const SESSION_LIMITS = {
  events: 100_000,
  bytes: 128 * 1024 * 1024,
  /** Of the frames of web sockets, which nobody here reads. */
  frameBytes: 8 * 1024 * 1024,
};

/** What is told of a session that has gone past its bounds. */
export type OnLimitExceeded = (what: string) => void;

/** A session whose reports are counted. */
export interface CountedSession {
  /** Counts what another session reports together with it, until it is counted anew. */
  include(sessionId: string): void;
  /** Begins to count anew: another document comes into the page. */
  reset(): void;
  /** The session is over. */
  stop(): void;
}

interface Count {
  events: number;
  bytes: number;
  frameBytes: number;
  /** Nothing more of it is read. */
  exceeded: boolean;
  readonly onLimitExceeded: OnLimitExceeded;
}

/** Where a message ends, its session is named: Chromium adds the name to a message that is complete already. */
const SESSION = /"sessionId":"([^"\\]+)"\}$/;
/** Long enough for that name (32 hexadecimal digits) and for the name of a method. */
const PART_BYTES = 96;
/** Answers have been asked for, and are not counted. */
const RESPONSE = /^\{"id":/;
/** A report that nobody waits for: it may be left out. */
const DISPENSABLE = /^\{"method":"Network\./;
const FRAME = /^\{"method":"Network\.webSocketFrame/;
/** Tells of every new title and address of a page, and nobody here reads it. */
const UNREAD = '{"method":"Target.targetInfoChanged"';

/**
 * The pipe to a browser, with bounds on what documents can have it carry: how large a message, and how many reports
 * and bytes of them for one document. Past a bound the rest of the session is left unread, and whoever counts it is
 * told, to end the page. Nothing past a bound is decoded or parsed, so that it costs no more than reading the pipe.
 */
export class BoundedPipe implements ConnectionTransport {
  onmessage?: (message: string) => void;
  onclose?: () => void;
  readonly #write: Writable;
  readonly #read: Readable;
  readonly #counts = new Map<string, Count>();
  /** The beginning of a message whose end has not come. */
  #chunks: Buffer[] = [];
  #length = 0;
  /** The last bytes of a message that is too large to be kept: only its first part is, and this. */
  #tail: Buffer | undefined;
  #closed = false;
  /** Messages that are sent together: each write costs a system call here and wakes a thread there. */
  #unsent: string[] = [];

  constructor(write: Writable, read: Readable) {
    this.#write = write;
    this.#read = read;
    read.on('data', this.#onData);
    read.once('close', () => {
      if (!this.#closed) this.onclose?.();
    });
    // A browser that has gone: the end of the other pipe tells of it.
    for (const pipe of [read, write]) pipe.on('error', () => undefined);
  }

  send(message: string): void {
    if (this.#closed) return;
    this.#unsent.push(message);
    // After all that follows at once from what is being done now.
    if (this.#unsent.length === 1) process.nextTick(this.#sendAll);
  }

  close(): void {
    this.#sendAll();
    this.#closed = true;
    this.#read.off('data', this.#onData);
    this.#read.resume();
  }

  /** Counts what a session reports. @param onLimitExceeded called once, when it has gone past a bound. */
  count(sessionId: string, onLimitExceeded: OnLimitExceeded): CountedSession {
    const count: Count = { events: 0, bytes: 0, frameBytes: 0, exceeded: false, onLimitExceeded };
    this.#counts.set(sessionId, count);
    let included: string[] = [];
    const exclude = () => {
      for (const other of included) this.#counts.delete(other);
      included = [];
    };
    return {
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

  /** Adds to the message that has begun. */
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
    if (this.#passes(sessionId, head, length)) this.#deliver(message);
  }

  /** Whether a message is to be delivered. */
  #passes(sessionId: string | undefined, head: string, length: number): boolean {
    const tooLarge = length > MAX_MESSAGE_BYTES;
    const count = sessionId === undefined ? undefined : this.#counts.get(sessionId);
    if (count === undefined) return !tooLarge;
    if (count.exceeded) return false;
    if (!RESPONSE.test(head)) {
      count.events++;
      count.bytes += length;
      if (FRAME.test(head)) count.frameBytes += length;
    }
    const error = errorOf(count, tooLarge && !DISPENSABLE.test(head));
    if (error === undefined) return !tooLarge;
    count.exceeded = true;
    count.onLimitExceeded(error);
    return false;
  }

  /** One at a time, so that what follows from one message is done before the next. */
  #deliver(message: Buffer): void {
    const text = message.toString();
    setImmediate(() => this.onmessage?.(text));
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
