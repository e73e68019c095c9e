import type { Request, Response } from 'express';
import { PlatenError } from '../../infra/errors/registry.ts';
import type { BodyIntake, Intake } from '../../infra/overload/body-intake.ts';
import { parseKeepingIntegers, rawNumber } from '../../tenants/templates/long-integers.ts';
import { findJsonError } from './json-error.ts';
import { checkJsonSize } from './json-size.ts';

/** How long the rest of a rejected request is read, in milliseconds, so that its sender can read the response. */
const LINGER_MS = 5000;
const JSON_TYPE = 'application/json';

/** A body as it was sent. */
export interface RawBody {
  readonly bytes: Buffer;
  /** Gives its bytes back to the intake. Calling it again changes nothing. */
  release(): void;
}

/**
 * Reads a body of at most `maxBytes`, of any type, unchanged.
 *
 * @param ownerId the owner of the body, for the bounds of the intake.
 * @throws PlatenError INPUT_TOO_LARGE, before reading when the length is announced; TOO_MANY_UPLOADS, UNAVAILABLE and
 * UPLOAD_TOO_SLOW as the intake does. CallerGone.
 */
export async function readBytes(
  request: Request,
  maxBytes: number,
  intake: BodyIntake,
  ownerId: string,
): Promise<RawBody> {
  const announced = Number(request.headers['content-length'] ?? 0);
  if (announced > maxBytes) throw tooLarge(maxBytes);
  const body = intake.begin(ownerId, announced);
  try {
    return { bytes: await readAtMost(request, maxBytes, body), release: body.release };
  } catch (error) {
    body.release();
    throw error;
  }
}

/**
 * The media type of a body, without its parameters.
 *
 * @param others what it may be besides application/json.
 * @throws PlatenError UNSUPPORTED_MEDIA_TYPE for any other one, and for anything but plain UTF-8.
 */
export function checkMediaType(
  { headers }: Pick<Request, 'headers'>,
  others: readonly string[] = [],
): string {
  const { 'content-type': type = '', 'content-encoding': encoding = 'identity' } = headers;
  const [essence = '', ...parameters] = type.split(';').map((part) => part.trim().toLowerCase());
  if (essence !== JSON_TYPE && !others.includes(essence)) {
    const message =
      others.length === 0 ? undefined : `The body must be ${[JSON_TYPE, ...others].join(' or ')}.`;
    throw new PlatenError('UNSUPPORTED_MEDIA_TYPE', message);
  }
  const charset = parameters.find((parameter) => parameter.startsWith('charset='));
  if (charset !== undefined && !/^charset="?utf-8"?$/.test(charset)) {
    throw new PlatenError('UNSUPPORTED_MEDIA_TYPE', 'The body must be in UTF-8.');
  }
  // A small compressed body can expand to a huge one, and compression would gain callers little.
  if (encoding.toLowerCase() !== 'identity') {
    throw new PlatenError('UNSUPPORTED_MEDIA_TYPE', 'The body must not be compressed.');
  }
  return essence;
}

function readAtMost(request: Request, maxBytes: number, body: Intake): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const conclude = (finish: () => void) => {
      request.off('data', onData).off('end', onEnd).off('error', onGone).off('close', onGone);
      finish();
    };
    const onData = (chunk: Buffer) => {
      size += chunk.length;
      if (size > maxBytes) return conclude(() => reject(tooLarge(maxBytes)));
      chunks.push(chunk);
      body.received(chunk.length);
    };
    const onEnd = () => {
      body.completed();
      conclude(() => resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, size)));
    };
    body.onRejected((error) => conclude(() => reject(error)));
    const onGone = () => conclude(() => reject(new CallerGone()));
    request.on('data', onData).on('end', onEnd).on('error', onGone).on('close', onGone);
    if (request.destroyed) onGone();
  });
}

/** The caller disconnected before its request was complete, so that no response can be sent. */
export class CallerGone extends Error {
  constructor() {
    super('The caller went away in the middle of its request.');
    this.name = 'CallerGone';
  }
}

/**
 * Makes sure that the sender of a rejected body can read the response: the rest of the body is read and discarded for
 * LINGER_MS, because closing a connection with unread bytes resets it, and the response is lost.
 *
 * @returns when the response can be sent: at once on a connection that stays open, otherwise after the body.
 */
export async function drainRequest(request: Request, response: Response): Promise<void> {
  if (request.complete || request.destroyed) return;
  const drained = new Promise<void>((resolve) => {
    const giveUp = setTimeout(() => {
      if (response.shouldKeepAlive) request.socket.destroy();
      else resolve();
    }, LINGER_MS);
    request.once('close', () => {
      clearTimeout(giveUp);
      resolve();
    });
    request.once('end', resolve);
  });
  request.on('error', () => undefined);
  request.resume();
  if (!response.shouldKeepAlive) await drained;
}

function tooLarge(maxBytes: number): PlatenError {
  return new PlatenError('INPUT_TOO_LARGE', `The body is larger than the limit of ${maxBytes} bytes.`);
}

/** @throws PlatenError MALFORMED_JSON with the position of the error; INPUT_TOO_LARGE as `checkJsonSize`. */
export function parseJson(bytes: Buffer): unknown {
  checkJsonSize(bytes);
  return parse(decode(bytes));
}

/** @throws PlatenError UNSUPPORTED_MEDIA_TYPE for what is not UTF-8. */
export function readText(bytes: Buffer): string {
  const text = utf8(bytes);
  if (text === undefined) throw new PlatenError('UNSUPPORTED_MEDIA_TYPE', 'The body must be in UTF-8.');
  return text;
}

function decode(bytes: Buffer): string {
  const text = utf8(bytes);
  if (text === undefined)
    throw new PlatenError('MALFORMED_JSON', 'The body is not valid JSON: it is not valid UTF-8.');
  return text;
}

function utf8(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function parse(text: string): unknown {
  try {
    // Ids in the data of a template may be longer than a number can hold.
    return parseKeepingIntegers(text, rawNumber, 'data');
  } catch {
    // V8's own message may quote the document and lack the position.
    throw new PlatenError('MALFORMED_JSON', `The body is not valid JSON: ${findJsonError(text)}.`);
  }
}
