import type { Request } from 'express';
import { PlatenError } from '../../infra/errors/registry.ts';
import type { BodyIntake, Intake } from '../../infra/overload/body-intake.ts';
import { CallerGone, checkMediaType } from './read-json.ts';
import type { StreamBody } from './route.ts';

/** Bytes of a piece at least, but for the last one: more than one chunk of the network. */
const PIECE_BYTES = 256 * 1024;

/** @throws PlatenError UNSUPPORTED_MEDIA_TYPE. */
export function checkStreamType(request: Request, { mediaTypes }: StreamBody): void {
  if (mediaTypes.includes(checkMediaType(request, mediaTypes))) return;
  throw new PlatenError('UNSUPPORTED_MEDIA_TYPE', `The body must be ${mediaTypes.join(' or ')}.`);
}

/**
 * The pieces of a body as they arrive. Each counts against the bounds of the intake until the next one is asked for, and the
 * sender's rate is measured while a piece is being received.
 *
 * @throws PlatenError INPUT_TOO_LARGE, before reading when the length is announced; TOO_MANY_UPLOADS, UNAVAILABLE and
 * UPLOAD_TOO_SLOW as the intake does. CallerGone.
 */
export async function* streamParts(
  request: Request,
  { maxBytes }: StreamBody,
  bodies: BodyIntake,
  ownerId: string,
): AsyncGenerator<Buffer> {
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw tooLarge(maxBytes);
  // The response of a rejected request needs the connection.
  const chunks = request.iterator({ destroyOnReturn: false });
  let total = 0;
  for (;;) {
    const intake = bodies.begin(ownerId, 0);
    try {
      const { piece, isLast } = await nextPiece(chunks, intake);
      total += piece.length;
      if (total > maxBytes) throw tooLarge(maxBytes);
      intake.completed();
      if (piece.length > 0) yield piece;
      if (isLast) return;
    } finally {
      intake.release();
    }
  }
}

async function nextPiece(
  chunks: AsyncIterator<Buffer>,
  intake: Intake,
): Promise<{ readonly piece: Buffer; readonly isLast: boolean }> {
  const rejected = Promise.withResolvers<never>();
  intake.onRejected(rejected.reject);
  // Nobody may be waiting at the time.
  rejected.promise.catch(() => undefined);
  const held: Buffer[] = [];
  let bytes = 0;
  while (bytes < PIECE_BYTES) {
    const next = chunks.next().catch(() => {
      throw new CallerGone();
    });
    const { value, done } = await Promise.race([next, rejected.promise]);
    if (done) return { piece: Buffer.concat(held), isLast: true };
    intake.received(value.length);
    held.push(value);
    bytes += value.length;
  }
  return { piece: Buffer.concat(held), isLast: false };
}

function tooLarge(maxBytes: number): PlatenError {
  return new PlatenError('INPUT_TOO_LARGE', `The body is larger than the limit of ${maxBytes} bytes.`);
}
