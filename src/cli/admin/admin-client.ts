import { parseOperatorTokens } from '../../config/operators.ts';
import { CommandError } from '../command-error.ts';
import { innermostCause } from '../open-client.ts';

/** The longest wait for a response, in milliseconds: an operation over many jobs takes ten seconds at the most. */
const TIMEOUT_MS = 60_000;
const DEFAULT_URL = 'http://localhost:9090';

/** A row of a list, or another body of the administration. */
export type Body = Readonly<Record<string, unknown>>;
export type Query = Readonly<Record<string, string | undefined>>;

/** The API of the administration, for the command line. */
export class AdminClient {
  readonly #url: string;
  readonly #token: string;

  /** @throws CommandError when PLATEN_ADMIN_URL or PLATEN_ADMIN_TOKEN is invalid, or there is no token. */
  constructor({ PLATEN_ADMIN_URL: url = DEFAULT_URL, PLATEN_ADMIN_TOKEN: tokens = '' }: NodeJS.ProcessEnv) {
    if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
      throw new CommandError(`PLATEN_ADMIN_URL must be the address of the operations port: ${DEFAULT_URL}`);
    }
    this.#url = url.replace(/\/$/, '');
    this.#token = firstToken(tokens);
  }

  get(path: string, query: Query = {}): Promise<Body> {
    const given = Object.entries(query).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value]],
    );
    const text = new URLSearchParams(given).toString();
    return this.#call('GET', text === '' ? path : `${path}?${text}`);
  }

  post(path: string, body?: unknown): Promise<Body> {
    return this.#call('POST', path, body);
  }

  /** At most `limit` rows, however many come at a time. @returns where the list continues as well; null at its end. */
  async rows(
    path: string,
    query: Query,
    { limit, cursor }: { readonly limit: number; readonly cursor: string | undefined },
  ): Promise<{ readonly rows: readonly Body[]; readonly cursor: string | null }> {
    const rows: Body[] = [];
    let next: string | null | undefined = cursor;
    do {
      const left = `${Math.min(200, limit - rows.length)}`;
      const page = await this.get(path, { ...query, limit: left, ...(next && { cursor: next }) });
      rows.push(...(page.rows as Body[]));
      next = page.cursor as string | null;
    } while (next !== null && rows.length < limit);
    return { rows, cursor: next };
  }

  async #call(method: string, path: string, body?: unknown): Promise<Body> {
    const response = await fetch(`${this.#url}/admin/api${path}`, {
      method,
      signal: AbortSignal.timeout(TIMEOUT_MS),
      headers: {
        authorization: `Bearer ${this.#token}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    }).catch((error: Error) => {
      throw new CommandError(`${this.#url} does not respond: ${String(innermostCause(error))}`);
    });
    const text = await response.text();
    const parsed = parse(text);
    if (response.ok && parsed !== undefined) return parsed;
    if (response.status === 404 && parsed?.message === 'There is nothing at this address.') {
      throw new CommandError(
        `${this.#url} has no administration: PLATEN_ADMIN_TOKEN is not set there, or this is not the operations port of api or standalone.`,
      );
    }
    const message = [parsed?.message ?? text.slice(0, 200)].flat().join('\n  ');
    throw new CommandError(`The service refuses: ${parsed?.code ?? response.status}: ${message}`);
  }
}

function parse(text: string): Body | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** @throws CommandError */
function firstToken(text: string): string {
  try {
    const [first] = parseOperatorTokens(text);
    if (first !== undefined) return first.token;
  } catch (error) {
    throw new CommandError(`PLATEN_ADMIN_TOKEN: ${(error as Error).message}`);
  }
  throw new CommandError('PLATEN_ADMIN_TOKEN must be a token of the administration.');
}
