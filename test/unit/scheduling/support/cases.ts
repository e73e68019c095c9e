import assert from 'node:assert/strict';
import { setImmediate as settled } from 'node:timers/promises';
import type { Permit, PermitRequest } from '../../../../src/infra/scheduling/fair-queue.ts';

/**
 * Events and the grants that follow from them, in this order. Several events or grants are separated by spaces; `a*5` stands
 * for five:
 *
 * - `a` is a request of the account `a`, `a!` a bulk request, `a=3` a request of size 3, `a:x` a request named `x`;
 * - `-a` releases the account's oldest permit, `~a` gives up its last request, `~a:x` its request `x`;
 * - `+100` lets 100 ms pass, and grants the permits that have become possible;
 * - `pause a` and `resume a` pause and resume the account's oldest permit;
 * - anything else is an event of the policy's own.
 */
export type Step = readonly [event: string, granted?: string];

export interface Case<Options> {
  readonly title: string;
  readonly options?: Options;
  readonly steps: readonly Step[];
}

type TestedPermit = Pick<Permit, 'account' | 'release'> & Partial<Permit>;

/** A queue under test. */
export interface Subject {
  acquire(request: PermitRequest, signal?: AbortSignal): Promise<TestedPermit>;
  /** Grants the permits that have become possible by the passing of time. */
  grant(): void;
}

const REQUEST = /^(?<account>[\w-]+)(?<bulk>!?)(?:=(?<size>\d+))?(?::(?<name>\w+))?$/;

/** Further events of a policy by their first word. The function gets the other words. */
export type Events = Readonly<Record<string, (...words: string[]) => void>>;

/** Makes a test of each case. */
export function runCases<Options, S extends Subject>(
  cases: readonly Case<Options>[],
  open: (now: () => number, options: Options | undefined, note: (text: string) => void) => S,
  events: (subject: NoInfer<S>) => Events = () => ({}),
): void {
  for (const { title, options, steps } of cases)
    it(title, async () => {
      const script = new Script((now, note) => open(now, options, note), events);
      for (const [at, [event, granted = '']] of steps.entries()) {
        await script.play(event);
        assert.deepEqual(script.granted.splice(0), words(granted), `step ${at + 1}: ${event}`);
      }
    });
}

class Script<S extends Subject> {
  /** Requests that were granted or rejected, and have not been checked yet. */
  readonly granted: string[] = [];
  readonly #subject: S;
  readonly #events: Events;
  readonly #permits: TestedPermit[] = [];
  readonly #waiting = new Map<string, AbortController>();
  #now = 1_000_000;

  constructor(open: (now: () => number, note: (text: string) => void) => S, events: (subject: S) => Events) {
    this.#subject = open(
      () => this.#now,
      (text) => this.granted.push(text),
    );
    this.#events = events(this.#subject);
  }

  async play(event: string): Promise<void> {
    const [verb, ...rest] = event.split(' ');
    const own = this.#events[verb!];
    if (own !== undefined) own(...rest);
    else if (verb === 'pause' || verb === 'resume') this.#oldest(rest[0]!)[verb]?.();
    else for (const word of words(event)) this.#one(word);
    await settled();
  }

  #one(word: string): void {
    const rest = word.slice(1);
    if (word.startsWith('+')) {
      this.#now += Number(rest);
      this.#subject.grant();
    } else if (word.startsWith('-')) {
      const permit = this.#oldest(rest);
      this.#permits.splice(this.#permits.indexOf(permit), 1);
      permit.release();
    } else if (word.startsWith('~')) {
      this.#waiting.get(rest)!.abort(new Error(`${rest} is given up`));
    } else {
      this.#request(word);
    }
  }

  #request(word: string): void {
    const { account, bulk, size } = word.match(REQUEST)?.groups ?? {};
    assert.ok(account, `"${word}" is no event`);
    const gone = new AbortController();
    this.#waiting.set(word.replace(/!|=\d+/, ''), gone);
    const request: PermitRequest = {
      account,
      ...(bulk && { priority: 'bulk' }),
      ...(size && { size: Number(size) }),
    };
    this.#subject.acquire(request, gone.signal).then(
      (permit) => {
        this.granted.push(word);
        this.#permits.push(permit);
      },
      (error: Error) => {
        if (!gone.signal.aborted) this.granted.push(error.message.replaceAll(' ', ''));
      },
    );
  }

  #oldest(account: string): TestedPermit {
    const permit = this.#permits.find((held) => held.account === account);
    assert.ok(permit, `${account} has no permit`);
    return permit;
  }
}

/** The words of a text; a word with a number is repeated. */
function words(text: string): string[] {
  return text.split(' ').flatMap((word) => {
    const [name, times = '1'] = word.split('*');
    return name ? new Array<string>(Number(times)).fill(name) : [];
  });
}
