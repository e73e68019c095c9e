import { STATUS_CODES } from 'node:http';
import { finished, pipeline } from 'node:stream';
import type { Response } from 'express';
import type { ResponseReservation } from '../../infra/overload/unread-responses.ts';
import type { Logger } from '../../infra/telemetry/logger.ts';
import { contextOf } from './request-context.ts';
import type { AnyResponse, FileBody, ResponseSpec } from './route.ts';

const JSON_TYPE = 'application/json; charset=utf-8';

/**
 * Sends a handler's response; nothing when the caller has disconnected.
 *
 * @param reservation holds the bytes of a response that is in memory until it has been read.
 * @throws PlatenError as `reservation.hold`.
 */
export function sendResponse(
  response: Response,
  reply: AnyResponse,
  spec: ResponseSpec | undefined,
  reservation: ResponseReservation | undefined,
  logger: Logger,
): void {
  const body = 'body' in reply ? reply.body : undefined;
  if (response.destroyed) {
    if (isFile(body)) body.stream.destroy();
    reservation?.release();
    return;
  }
  const text = 'json' in reply ? JSON.stringify(reply.json) : isFile(body) ? undefined : body;
  // A Buffer is a constant response, which all readers share: it is not counted.
  if (typeof text === 'string') reservation?.hold(response, Buffer.byteLength(text));
  else reservation?.release();
  response.statusCode = reply.status;
  for (const [name, value] of Object.entries(reply.headers ?? {})) response.setHeader(name, value);
  if (!response.hasHeader('Cache-Control')) response.setHeader('Cache-Control', 'no-store');
  const type = String(
    response.getHeader('Content-Type') ?? ('json' in reply ? JSON_TYPE : contentTypeOf(spec)),
  );
  if (isFile(body)) sendFile(response, type, body, logger);
  else if (text === undefined) response.end();
  else sendText(response, type, text);
}

/** Sends the response of an error. Its `error` field is the label of the status. */
export function sendError(
  response: Response,
  status: number,
  fields: {
    readonly message: string | readonly string[];
    readonly code: string;
    readonly remedy: string;
    readonly docsUrl: string | undefined;
    readonly jobId: string | undefined;
  },
): void {
  response.statusCode = status;
  response.setHeader('Cache-Control', 'no-store');
  const { requestId } = contextOf(response);
  const error = STATUS_CODES[status] ?? 'Error';
  const json = { statusCode: status, error, ...fields, requestId };
  const context = contextOf(response);
  if (context.afterwards !== undefined) context.sentJson = json;
  sendText(response, JSON_TYPE, JSON.stringify(json));
}

function sendText(response: Response, contentType: string, body: string | Buffer): void {
  response.setHeader('Content-Type', contentType);
  response.setHeader('Content-Length', Buffer.byteLength(body));
  response.end(body);
}

function sendFile(response: Response, contentType: string, file: FileBody, logger: Logger): void {
  response.setHeader('Content-Type', contentType);
  if (file.size !== undefined) response.setHeader('Content-Length', file.size);
  if (response.req.method === 'HEAD') {
    file.stream.destroy();
    response.end();
    return;
  }
  // The last bytes read from the file are buffered in the response until the caller has received them.
  for (const reservation of file.reservations ?? []) reservation.hold(response);
  if (file.bytes !== undefined) {
    const { onSent } = file;
    if (onSent !== undefined) finished(response, (error) => !error && onSent());
    response.end(file.bytes);
    return;
  }
  // When reading fails, the connection is closed: the caller sees less than Content-Length, or no last chunk.
  pipeline(file.stream, response, (error) => {
    if (error && error.code !== 'ERR_STREAM_PREMATURE_CLOSE') {
      logger.error(
        { err: error, requestId: contextOf(response).requestId },
        'file broke off while it was sent',
      );
    }
    if (!error) file.onSent?.();
  });
}

function contentTypeOf(spec: ResponseSpec | undefined): string {
  return spec?.contentType ?? 'application/octet-stream';
}

function isFile(body: string | Buffer | FileBody | undefined): body is FileBody {
  return typeof body === 'object' && 'stream' in body;
}
