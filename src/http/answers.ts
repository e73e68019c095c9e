import { STATUS_CODES } from 'node:http';
import { pipeline } from 'node:stream';
import type { Response } from 'express';
import type { Logger } from '../telemetry/logger.ts';
import { contextOf } from './request-context.ts';
import type { AnyAnswer, FileBody, ResponseSpec } from './route.ts';

const JSON_TYPE = 'application/json; charset=utf-8';

/** Sends what a handler has answered; nothing when the caller is gone. */
export function sendAnswer(
  response: Response,
  answer: AnyAnswer,
  spec: ResponseSpec | undefined,
  logger: Logger,
): void {
  const body = 'body' in answer ? answer.body : undefined;
  if (response.destroyed) {
    if (isFile(body)) body.stream.destroy();
    return;
  }
  response.statusCode = answer.status;
  for (const [name, value] of Object.entries(answer.headers ?? {})) response.setHeader(name, value);
  if (!response.hasHeader('Cache-Control')) response.setHeader('Cache-Control', 'no-store');
  if ('json' in answer) sendText(response, JSON_TYPE, JSON.stringify(answer.json));
  else if (body === undefined) response.end();
  else if (isFile(body)) sendFile(response, contentTypeOf(spec), body, logger);
  else sendText(response, contentTypeOf(spec), body);
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
