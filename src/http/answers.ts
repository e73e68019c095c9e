import { STATUS_CODES } from 'node:http';
import { pipeline } from 'node:stream';
import type { Response } from 'express';
import type { Logger } from '../telemetry/logger.ts';
import { contextOf } from './request-context.ts';
import type { AnyAnswer, FileBody, ResponseSpec } from './route.ts';
import type { AnswerShare } from './unread-answers.ts';

const JSON_TYPE = 'application/json; charset=utf-8';

/**
 * Sends what a handler has answered; nothing when the caller is gone.
 *
 * @param share has the bytes of an answer that is in memory until it is read.
 * @throws PlatenError as the share does.
 */
export function sendAnswer(
  response: Response,
  answer: AnyAnswer,
  spec: ResponseSpec | undefined,
  share: AnswerShare | undefined,
  logger: Logger,
): void {
  const body = 'body' in answer ? answer.body : undefined;
  if (response.destroyed) {
    if (isFile(body)) body.stream.destroy();
    share?.release();
    return;
  }
  const text = 'json' in answer ? JSON.stringify(answer.json) : isFile(body) ? undefined : body;
  // Buffers are those of constant answers, which all readers share.
  if (typeof text === 'string') share?.hold(response, Buffer.byteLength(text));
  else share?.release();
  response.statusCode = answer.status;
  for (const [name, value] of Object.entries(answer.headers ?? {})) response.setHeader(name, value);
  if (!response.hasHeader('Cache-Control')) response.setHeader('Cache-Control', 'no-store');
  if (isFile(body)) sendFile(response, contentTypeOf(spec), body, logger);
  else if (text === undefined) response.end();
  else sendText(response, 'json' in answer ? JSON_TYPE : contentTypeOf(spec), text);
}

/** An error's answer. The status label is the contract's `error` field. */
export function sendError(
  response: Response,
  status: number,
  fields: { message: string | readonly string[]; code: string; jobId?: string | undefined },
): void {
  response.statusCode = status;
  response.setHeader('Cache-Control', 'no-store');
  const { message, code, jobId } = fields;
  const { requestId } = contextOf(response);
  const error = STATUS_CODES[status] ?? 'Error';
  sendText(
    response,
    JSON_TYPE,
    JSON.stringify({ statusCode: status, error, message, code, requestId, jobId }),
  );
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
  // What was read last waits in the response until the caller takes it.
  for (const place of file.places ?? []) place.hold(response);
  // A broken file breaks the connection off: the caller sees that it got less than Content-Length, or no last chunk.
  pipeline(file.stream, response, (error) => {
    if (error && error.code !== 'ERR_STREAM_PREMATURE_CLOSE') {
      logger.error(
        { err: error, requestId: contextOf(response).requestId },
        'file broke off while it was sent',
      );
    }
  });
}

function contentTypeOf(spec: ResponseSpec | undefined): string {
  return spec?.contentType ?? 'application/octet-stream';
}

function isFile(body: string | Buffer | FileBody | undefined): body is FileBody {
  return typeof body === 'object' && 'stream' in body;
}
