import type { Request } from 'express';
import type { ZodObject, ZodType } from 'zod';
import { PlatenError } from '../../infra/errors/registry.ts';
import { errorsOf, wordError } from './field-errors.ts';

interface Schemas {
  readonly params?: ZodObject | undefined;
  readonly query?: ZodObject | undefined;
  readonly headers?: ZodObject | undefined;
  readonly body?: ZodType | undefined;
  readonly bodyErrors?: ((body: unknown) => readonly string[]) | undefined;
  readonly describeError?: ((problem: string, body: unknown) => string) | undefined;
}

/** @param body as parsed from JSON. @throws PlatenError VALIDATION with all errors of all parts. */
export function checkRequest(schemas: Schemas, request: Request, body: unknown) {
  const errors: string[] = [];
  const check = (schema: ZodType | undefined, value: () => unknown, whole: string): unknown => {
    if (schema === undefined) return undefined;
    const result = schema.safeParse(value(), { error: wordError });
    if (result.success) return result.data;
    errors.push(...errorsOf(result.error, whole));
    return undefined;
  };
  const checked = {
    params: check(schemas.params, () => request.params, 'path'),
    query: check(schemas.query, () => ({ ...request.query }), 'query'),
    headers: check(schemas.headers, () => namedHeaders(schemas.headers!, request), 'headers'),
    body: check(schemas.body, () => body, 'body'),
  };
  errors.push(...(schemas.bodyErrors?.(body) ?? []));
  const reported = errors.map((problem) => schemas.describeError?.(problem, body) ?? problem);
  if (reported.length > 0) throw new PlatenError('VALIDATION', reported[0], { details: reported });
  return checked;
}

/** Only the headers that the schema names, since a request has many others. */
function namedHeaders(schema: ZodObject, request: Request): Record<string, unknown> {
  return Object.fromEntries(
    Object.keys(schema.shape).map((name) => [name, request.headers[name.toLowerCase()]]),
  );
}
