import type { Redactor } from './redact.ts';

export const REQUEST_OUTCOMES = [
  'pending',
  'loaded',
  'redirected',
  'error',
  'unreachable',
  'blocked',
  'cancelled',
] as const;
type RequestOutcome = (typeof REQUEST_OUTCOMES)[number];

/** A request of the document, and its outcome. */
export interface LoggedRequest {
  /** Without secrets. */
  readonly url: string;
  readonly host: string;
  /** Whether the request is for the document of the source URL itself. */
  readonly main: boolean;
  readonly kind: string;
  outcome: RequestOutcome;
  status: number | null;
  /** The cause of the outcome: an option, a policy, the browser's cache; null for any other. */
  rule: string | null;
  /** The browser's error for a failed request. */
  error: string | null;
  /** As received, head included; 0 from a cache. */
  bytes: number;
  /** Milliseconds from the beginning of the render to the request. */
  readonly startMs: number;
  ms: number;
}

interface SentRequest {
  readonly url: string;
  readonly kind: string;
  readonly main: boolean;
}

interface RequestResponse {
  readonly status: number;
  /** The egress proxy's reason for responding instead of the server, from its header. */
  readonly egress?: string | undefined;
}

/** The kind of a request for the script of a worker. */
export const WORKER = 'worker';

/** The rule for an address that leads nowhere, since a document given as HTML has no address of its own. */
export const RELATIVE = 'relative address without baseUrl';

export const MAX_REQUESTS = 500;
/** Requests that are followed in addition to the kept ones, because they may fail. */
const MAX_FOLLOWED = 2000;

interface Followed {
  readonly entry: LoggedRequest;
  readonly began: number;
}

/** The requests of a render, at most 500. A failed request replaces one that has not failed. */
export class RequestLog {
  readonly entries: LoggedRequest[] = [];
  readonly #open = new Map<string, Followed>();
  /** Responses to requests that have not been reported yet. */
  readonly #early = new Map<string, RequestResponse>();
  readonly #began = performance.now();
  /** Requests by relative addresses so far. */
  #relative = 0;
  readonly #redactor: Redactor;
  cut = false;

  constructor(redactor: Redactor) {
    this.#redactor = redactor;
  }

  sent(id: string, { url, kind, main }: SentRequest): void {
    if (/^(data|blob|about):/.test(url.slice(0, 6))) return;
    if (this.#open.size >= MAX_FOLLOWED + MAX_REQUESTS) {
      this.cut = true;
      return;
    }
    const entry: LoggedRequest = {
      url: this.#redactor.address(url),
      host: URL.parse(url)?.hostname ?? '',
      main,
      kind,
      outcome: 'pending',
      status: null,
      rule: null,
      error: null,
      bytes: 0,
      startMs: this.#sinceBegin(),
      ms: 0,
    };
    this.#open.set(id, { entry, began: performance.now() });
    const early = this.#early.get(id);
    if (early !== undefined) this.responded(id, early);
    this.#early.delete(id);
    if (this.entries.length < MAX_REQUESTS) this.entries.push(entry);
    else this.cut = true;
  }

  /** Records, once, what an HTML document asked for by a relative address. @param nameOf that without secrets. */
  relative(nameOf: (redactor: Redactor) => string, kind: string): void {
    if (++this.#relative > MAX_REQUESTS) {
      this.cut = true;
      return;
    }
    const url = nameOf(this.#redactor);
    if (this.entries.some((entry) => entry.rule === RELATIVE && entry.url === url)) return;
    const outcome = 'unreachable';
    const ends = { outcome, status: null, rule: RELATIVE, error: null, bytes: 0, ms: 0 } as const;
    const startMs = this.#sinceBegin();
    const entry: LoggedRequest = { url, host: '', main: false, kind, startMs, ...ends };
    if (this.entries.length < MAX_REQUESTS) this.entries.push(entry);
    else {
      this.cut = true;
      this.#replaceBy(entry);
    }
  }

  /** Records a failed response, before or after its request is reported; other responses change nothing. */
  responded(id: string, response: RequestResponse): void {
    const { status, egress } = response;
    if (status < 400 && egress === undefined) return;
    const entry = this.#open.get(id)?.entry;
    if (entry === undefined) {
      if (this.#early.size < MAX_REQUESTS) this.#early.set(id, response);
      return;
    }
    // Over TLS such a header can only come from the origin itself.
    if (egress !== undefined && entry.url.startsWith('http:')) {
      const blocked = egress === 'blocked';
      const outcome = blocked ? 'blocked' : 'unreachable';
      this.change(id, { outcome, status: null, rule: blocked ? 'egress' : null, error: egress });
    } else if (status >= 400) this.change(id, { status, outcome: 'error', error: null });
  }

  /** Updates a request that has not ended. */
  change(id: string, known: Partial<Pick<LoggedRequest, 'status' | 'rule' | 'error' | 'outcome'>>): void {
    const followed = this.#open.get(id);
    if (followed !== undefined) Object.assign(followed.entry, known);
  }

  /** @param known returns the changes at the end of the request, from its previous entry. */
  ended(id: string, known: (entry: LoggedRequest) => Partial<LoggedRequest>): void {
    const followed = this.#open.get(id);
    if (followed === undefined) return;
    const { entry, began } = followed;
    Object.assign(entry, known(entry), { ms: Math.round(performance.now() - began) });
    // The browser may report more about a failed request later.
    if (!failed(entry)) this.#open.delete(id);
    if (failed(entry) && this.cut && !this.entries.includes(entry)) this.#replaceBy(entry);
  }

  #sinceBegin(): number {
    return Math.round(performance.now() - this.#began);
  }

  #replaceBy(entry: LoggedRequest): void {
    const at = this.entries.findLastIndex((other) => !failed(other));
    if (at !== -1) this.entries[at] = entry;
  }
}

/** Whether the document did not receive the requested resource. */
export function failed({ outcome }: LoggedRequest): boolean {
  return outcome === 'error' || outcome === 'unreachable' || outcome === 'blocked';
}

/** Whether the document received the requested resource, whatever it is. */
export function arrived({ outcome }: LoggedRequest): boolean {
  return outcome === 'loaded' || outcome === 'redirected';
}

/** The last part of an address, which names what it leads to; undefined when there is none. */
export function lastPart(url: string): string | undefined {
  return URL.parse(url)
    ?.pathname.split('/')
    .findLast((part) => part !== '');
}
