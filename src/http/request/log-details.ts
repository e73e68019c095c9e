import type { IncomingHttpHeaders } from 'node:http';
import { abridged, maskedAddress, maskedHeaders } from '../../tenants/usage/abridged.ts';
import type { KeptBody } from '../../tenants/usage/request-details.ts';
import type { Said } from '../../tenants/usage/request-recorder.ts';
import type { Exchange } from './exchange.ts';
import { contextOf } from './request-context.ts';

/** Whether headers and bodies of a request are kept in the log of its account. */
export function keepsDetails({ route, caller }: Pick<Exchange<never>, 'route' | 'caller'>): boolean {
  if (!route.requestsWork || caller === undefined) return false;
  return 'session' in caller
    ? caller.session.account.withoutRequestDetails !== true
    : caller.keepsRequestDetails === true;
}

/** A body as the log keeps it: what is JSON, or was made of parts, by its fields. It is cut at once, so the body is not held. */
export function keptBody(type: string, size: number, json: unknown): KeptBody {
  return { type, size, ...kept(json) };
}

/**
 * Notes the headers and bodies of a request once its response is sent: nobody waits for it.
 *
 * @param note takes them.
 */
export function noteWhenSent(exchange: Exchange<never>, note: (said: Said) => void): void {
  const { request, response, keptBody: body, reply } = exchange;
  const context = contextOf(response);
  // Cut at once: whoever reads slowly does not hold the whole of it.
  const sent = reply !== undefined && 'json' in reply ? kept(reply.json) : undefined;
  context.afterwards = () =>
    note({
      path: maskedAddress(request.originalUrl),
      request: { headers: maskedHeaders(request.headers), body: body ?? unread(request.headers) },
      response: {
        headers: maskedHeaders(response.getHeaders()),
        body: sentBody(response.getHeaders(), sent ?? kept(context.sentJson)),
      },
    });
}

/** A body that was rejected before it was parsed. */
function unread({ 'content-type': type, 'content-length': size }: IncomingHttpHeaders): KeptBody | null {
  if (type === undefined && size === undefined) return null;
  return { type: type ?? null, size: sizeOf(size), text: null, isWhole: false };
}

function sentBody(
  headers: Readonly<Record<string, unknown>>,
  body: ReturnType<typeof kept>,
): KeptBody | null {
  const { 'content-type': type, 'content-length': size } = headers;
  if (type === undefined) return null;
  return { type: String(type), size: sizeOf(size), ...body };
}

function kept(json: unknown): Pick<KeptBody, 'text' | 'isWhole'> {
  return json === undefined ? { text: null, isWhole: false } : abridged(json);
}

function sizeOf(length: unknown): number | null {
  const size = Number(length ?? Number.NaN);
  return Number.isNaN(size) ? null : size;
}
