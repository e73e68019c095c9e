import type { Request, Response } from 'express';
import { PlatenError } from '../errors/registry.ts';
import type { BodyIntake, Intake } from './body-intake.ts';
import { findJsonFault } from './json-fault.ts';
import { checkJsonSize } from './json-size.ts';

/** What a request that is refused may still send, so that its sender gets round to reading the answer. */
const LINGER_MS = 5000;

/** A body as it was sent, and what it says. */
export interface JsonBody {
  readonly bytes: Buffer;
  readonly value: unknown;
  /** What it takes of the bytes that may be in flight is given back. */
  release(): void;
}

/**
 * Reads a JSON body of at most `maxBytes`.
 *
 * @param ownerId whose body it is, for the bounds of the intake.
 * @param turn waited for once the body is here, before it is parsed; what it rejects with is thrown.
 * @throws PlatenError UNSUPPORTED_MEDIA_TYPE for anything but plain application/json in UTF-8; INPUT_TOO_LARGE, before
 * reading when the length is announced; MALFORMED_JSON with the place of the fault; TOO_MANY_UPLOADS, UNAVAILABLE and
 * UPLOAD_TOO_SLOW as the intake does.
 */
export async function readJson(
  request: Request,
  maxBytes: number,
  intake: BodyIntake,
  ownerId: string,
  turn: () => Promise<void>,
): Promise<JsonBody> {
  checkMediaType(request);
  const { bytes, release } = await readBytes(request, maxBytes, intake, ownerId);
  try {
    await turn();
    checkJsonSize(bytes);
    return { bytes, value: parse(decode(bytes)), release };
  } catch (error) {
    release();
    throw error;
  }
}

/** Reads a body of any type as it came. Otherwise as `readJson`. */
export async function readBytes(
  request: Request,
  maxBytes: number,
  intake: BodyIntake,
  ownerId: string,
): Promise<Pick<JsonBody, 'bytes' | 'release'>> {
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

function checkMediaType(request: Request): void {
  const { 'content-type': type = '', 'content-encoding': encoding = 'identity' } = request.headers;
  const [essence, ...parameters] = type.split(';').map((part) => part.trim().toLowerCase());
  if (essence !== 'application/json') throw new PlatenError('UNSUPPORTED_MEDIA_TYPE');
  const charset = parameters.find((parameter) => parameter.startsWith('charset='));
  if (charset !== undefined && !/^charset="?utf-8"?$/.test(charset)) {
    throw new PlatenError('UNSUPPORTED_MEDIA_TYPE', 'The body must be in UTF-8.');
  }
  // A small compressed body can hold a huge one, and no caller here gains by compressing.
  if (encoding.toLowerCase() !== 'identity') {
    throw new PlatenError('UNSUPPORTED_MEDIA_TYPE', 'The body must not be compressed.');
  }
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
      body.came(chunk.length);
    };
    const onEnd = () => {
      body.arrived();
      conclude(() => resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, size)));
    };
    body.onRefused((error) => conclude(() => reject(error)));
    const onGone = () => conclude(() => reject(new CallerGone()));
    request.on('data', onData).on('end', onEnd).on('error', onGone).on('close', onGone);
    if (request.destroyed) onGone();
  });
}

/** The caller went away in the middle of its request: there is nobody to answer. */
export class CallerGone extends Error {
  constructor() {
    super('The caller went away in the middle of its request.');
    this.name = 'CallerGone';
  }
}

/**
 * Makes sure that the sender of a refused body can read the answer: what is still on its way is read and thrown away
 * for a while, because closing a connection on unread bytes resets it and takes the answer along.
 *
 * @returns when the answer can be sent: at once on a connection that stays open, otherwise after the body.
 */
export async function letRestPass(request: Request, response: Response): Promise<void> {
  if (request.complete || request.destroyed) return;
  const passed = new Promise<void>((resolve) => {
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
  if (!response.shouldKeepAlive) await passed;
}

function tooLarge(maxBytes: number): PlatenError {
  return new PlatenError('INPUT_TOO_LARGE', `The body is larger than the limit of ${maxBytes} bytes.`);
}

function decode(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new PlatenError('MALFORMED_JSON', 'The body is not valid JSON: it is not valid UTF-8.');
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // V8's own message quotes the document and often leaves the place out.
    throw new PlatenError('MALFORMED_JSON', `The body is not valid JSON: ${findJsonFault(text)}.`);
  }
}
