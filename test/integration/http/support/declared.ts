import assert from 'node:assert/strict';
import { API_ROUTES } from '../../../../src/http/app.ts';
import { errorBodySchema } from '../../../../src/http/request/error-body-schema.ts';
import { errorsOf } from '../../../../src/http/site/api-document.ts';
import { ERRORS } from '../../../../src/infra/errors/registry.ts';
import { REMEDIES } from '../../../../src/infra/errors/remedies.ts';

/** A response as it was received. */
export interface Seen {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Uint8Array;
}

const PATTERNS = API_ROUTES.map((route) => ({
  route,
  pattern: new RegExp(`^${route.path.replace(/[.]/g, '\\.').replace(/:\w+/g, '[^/]+')}$`),
}));

/** Fails unless the route declares the response: its status, its media type, and every field of its body. */
export function assertDeclared(method: string, path: string, seen: Seen): void {
  const [pathname] = path.split('?') as [string];
  const known = PATTERNS.filter(({ pattern }) => pattern.test(pathname)).map(({ route }) => route);
  const route = known.find((candidate) => candidate.method.toUpperCase() === method);
  const spec = route?.responses[seen.status];
  const where = `${method} ${pathname} → ${seen.status}`;
  const type = seen.headers.get('content-type') ?? '';
  if (spec !== undefined) {
    if (spec.contentType === type) return;
    if (spec.schema === undefined && spec.contentType === undefined) {
      assert.deepEqual([type, seen.bytes.length], ['', 0], `${where} has no body`);
      return;
    }
    assert.ok(spec.schema, `${where}: ${type} is not declared`);
    assertFits(spec.schema, seen, where);
    return;
  }
  const statuses = route === undefined ? [404, 405] : errorsOf(route).map((code) => ERRORS[code].status);
  assert.ok(statuses.includes(seen.status), `${where} is not declared`);
  const error = assertFits(errorBodySchema, seen, where);
  assert.equal(error.statusCode, seen.status, where);
  assert.equal(ERRORS[error.code].status, seen.status, where);
  assert.equal(error.requestId, seen.headers.get('x-request-id'), where);
  assert.equal(error.remedy, REMEDIES[error.code], where);
  assert.ok(error.docsUrl.endsWith(`/docs/errors#${error.code}`), `${where}: ${error.docsUrl}`);
  // RFC 9110, section 11.6.1: on every 401, and Platen sends it with no other status.
  assert.equal(seen.headers.has('www-authenticate'), seen.status === 401, where);
  // Retry-After is set whenever the same request can succeed later.
  if ([429, 503].includes(seen.status))
    assert.match(seen.headers.get('retry-after') ?? '', /^[1-9]\d*$/, where);
  if (route !== undefined) assert.ok(errorsOf(route).includes(error.code), `${where}: ${error.code}`);
}

function assertFits<T>(
  schema: { safeParse(value: unknown): { success: boolean; data?: T; error?: unknown } },
  seen: Seen,
  where: string,
): T {
  assert.match(seen.headers.get('content-type') ?? '', /^application\/json/, where);
  const parsed = schema.safeParse(JSON.parse(Buffer.from(seen.bytes).toString()));
  assert.ok(parsed.success, `${where}: ${String(parsed.error)}`);
  return parsed.data as T;
}
