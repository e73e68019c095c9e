import type { Request } from 'express';
import type { ZodObject, ZodType } from 'zod';
import { PlatenError } from '../errors/registry.ts';
import { faultsOf, wordFault } from './faults.ts';

interface Schemas {
  readonly params?: ZodObject | undefined;
  readonly query?: ZodObject | undefined;
  readonly headers?: ZodObject | undefined;
  readonly body?: ZodType | undefined;
  readonly bodyFaults?: ((body: unknown) => readonly string[]) | undefined;
  readonly describeFault?: ((fault: string, body: unknown) => string) | undefined;
}

/**
 * Checks every part of a request against its schema.
 *
 * @param body as parsed from JSON.
 * @throws PlatenError VALIDATION with every fault of every part at once.
 */
export function checkRequest(schemas: Schemas, request: Request, body: unknown) {
  const faults: string[] = [];
  const check = (schema: ZodType | undefined, value: () => unknown, whole: string): unknown => {
    if (schema === undefined) return undefined;
    const result = schema.safeParse(value(), { error: wordFault });
    if (result.success) return result.data;
    faults.push(...faultsOf(result.error, whole));
    return undefined;
  };
  const checked = {
    params: check(schemas.params, () => request.params, 'path'),
    query: check(schemas.query, () => ({ ...request.query }), 'query'),
    headers: check(schemas.headers, () => namedHeaders(schemas.headers!, request), 'headers'),
    body: check(schemas.body, () => body, 'body'),
  };
  faults.push(...(schemas.bodyFaults?.(body) ?? []));
  const told = faults.map((fault) => schemas.describeFault?.(fault, body) ?? fault);
  if (told.length > 0) throw new PlatenError('VALIDATION', told[0], { details: told });
  return checked;
}

/** Only those that the schema names; a request has many that are nobody's business here. */
function namedHeaders(schema: ZodObject, request: Request): Record<string, unknown> {
  return Object.fromEntries(
    Object.keys(schema.shape).map((name) => [name, request.headers[name.toLowerCase()]]),
  );
}
