import createClient from 'openapi-fetch';
import type { components, paths } from '../../clients/typescript/src/generated/schema.ts';

/** The routes of the API, with the cookie of the session. Types come from the OpenAPI document. */
export const api = createClient<paths>({ credentials: 'same-origin' });

export type Schemas = components['schemas'];

/** What the API answered in place of what was asked for. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  /** One sentence for each thing that is wrong. */
  readonly problems: readonly string[];
  readonly remedy: string | undefined;
  /** After how many seconds the same may be asked again; undefined where waiting does not help. */
  readonly retryAfterSeconds: number | undefined;

  constructor(status: number, body: unknown, retryAfter: string | null = null) {
    const said = (typeof body === 'object' && body !== null ? body : {}) as Record<string, unknown>;
    const problems = [said.message ?? `The service answered ${status}.`].flat().map(String);
    super(problems.join(' '));
    this.status = status;
    this.problems = problems;
    this.code = text(said.code) ?? text(said.error) ?? String(status);
    this.remedy = text(said.remedy);
    this.retryAfterSeconds = /^\d+$/.test(retryAfter ?? '') ? Number(retryAfter) : undefined;
  }
}

type ApiResponse<Data> = { data?: Data; error?: unknown; response: Response };

const listeners = new Set<() => void>();

/** Calls `listener` whenever the API says that nobody is signed in. @returns ends that. */
export function onSignedOut(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** What the API answered. @throws ApiError; TypeError when it cannot be reached. */
export async function call<Data>(asked: Promise<ApiResponse<Data>>): Promise<Data> {
  const { data, error, response } = await asked;
  if (response.ok) return data as Data;
  if (response.status === 401) for (const listener of listeners) listener();
  throw new ApiError(response.status, error, response.headers.get('Retry-After'));
}

/** An error in a sentence that a person can act on. */
export function sentence(error: unknown): string {
  if (error instanceof ApiError) return error.message;
  if (error instanceof TypeError)
    return 'The service cannot be reached. Check the connection; it is tried again.';
  return error instanceof Error ? error.message : String(error);
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
