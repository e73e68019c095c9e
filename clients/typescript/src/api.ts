import createClient, { type Client } from 'openapi-fetch';
import { type AttemptBounds, boundedFetch, type Fetch } from './bounded-fetch.ts';
import { type Connection, openConnection } from './connection.ts';
import { apiError } from './errors.ts';
import type { paths } from './generated/schema.ts';
import { DEFAULT_RETRY, type RetryOptions, retryingFetch } from './retrying-fetch.ts';

/** Every route of the API, typed: `api.GET('/v1/pdf/jobs/{id}', { params: { path: { id } } })`. */
export type PlatenApi = Client<paths>;

export interface ConnectionOptions {
  /** Where the service is: `https://pdf.example.com`; otherwise PLATEN_URL of the environment. */
  readonly baseUrl?: string | URL | undefined;
  readonly retry?: Partial<RetryOptions> | undefined;
  /** What requests are sent with; the global fetch unless given. */
  readonly fetch?: Fetch | undefined;
}

export interface Credentials {
  /** For the routes under /v1. */
  readonly apiKey?: string | undefined;
  /** For the routes under /user and /auth. */
  readonly accessToken?: string | undefined;
}

/**
 * The typed routes, sent with these credentials, and tried again where that is safe and can help.
 *
 * @throws TypeError without an address of HTTP.
 */
export function createApi(options: ConnectionOptions & Credentials = {}): PlatenApi {
  return apiOf(openConnection(options.baseUrl, options.fetch), options);
}

/** The typed routes by a connection. */
export function apiOf(
  connection: Connection,
  { apiKey, accessToken, retry }: ConnectionOptions & Credentials,
): PlatenApi {
  return createClient<paths>({
    baseUrl: connection.baseUrl,
    fetch: retryingFetch(connection, { ...DEFAULT_RETRY, ...retry }),
    headers: {
      ...(apiKey !== undefined && { 'X-API-Key': apiKey }),
      ...(accessToken !== undefined && { Authorization: `Bearer ${accessToken}` }),
    },
  });
}

/** Sends a GET request once, within bounds; the response's body is read as it comes. */
export type Stream = (
  path: string,
  headers: Record<string, string>,
  signal: AbortSignal,
  bounds: AttemptBounds,
) => Promise<Response>;

/** Of an API key: for what is too long to be held, or never whole. */
export function streamer({ baseUrl, fetchOnce }: Connection, apiKey: string): Stream {
  return (path, headers, signal, bounds) =>
    boundedFetch(
      fetchOnce,
      new Request(`${baseUrl}${path}`, { headers: { 'X-API-Key': apiKey, ...headers }, signal }),
      bounds,
    );
}

/**
 * Signs in with a password.
 *
 * @returns the typed routes with the new access token, which is valid for 12 hours.
 * @throws AuthenticationError when address and password do not fit.
 */
export async function signIn(
  connection: ConnectionOptions,
  credentials: { readonly email: string; readonly password: string },
): Promise<PlatenApi> {
  const { accessToken } = await dataOf(createApi(connection).POST('/auth/login', { body: credentials }));
  return createApi({ ...connection, accessToken });
}

/**
 * What a call of the typed routes has brought.
 *
 * @throws PlatenApiError when that is an error.
 */
export async function dataOf<Data>(
  call: Promise<{ readonly data?: Data; readonly error?: unknown; readonly response: Response }>,
): Promise<Exclude<Data, undefined>> {
  const { data, error, response } = await call;
  if (!response.ok) throw apiError(response, error);
  return data as Exclude<Data, undefined>;
}
