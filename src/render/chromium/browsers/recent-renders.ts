/** How long a render is remembered after its end, in milliseconds. */
const REMEMBERED_MS = 5000;

interface Render {
  readonly account: string;
  readonly began: number;
  /** Undefined while it runs. */
  ended: number | undefined;
}

/** The renders of one browser: those that run, and those that ended within the last seconds. */
export class RecentRenders {
  readonly #renders = new Set<Render>();
  readonly #now: () => number;

  /** @param now milliseconds of a clock that never goes back. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Notes that a render begins. @returns a function to call when it has ended. */
  begin(account: string): () => void {
    const render: Render = { account, began: this.#now(), ended: undefined };
    this.#renders.add(render);
    return () => {
      render.ended = this.#now();
    };
  }

  /** Forgets renders that ended long ago. To be called about every second. */
  forget(): void {
    const before = this.#now() - REMEMBERED_MS;
    for (const render of this.#renders)
      if (render.ended !== undefined && render.ended < before) this.#renders.delete(render);
  }

  /** Whether a render still runs that ran at `time` already. */
  someRunsSince(time: number): boolean {
    return [...this.#renders].some(({ began, ended }) => began <= time && ended === undefined);
  }

  /** The accounts with a render that ran between two times, each once. */
  accountsBetween(from: number, to: number): string[] {
    const ran = [...this.#renders].filter(({ began, ended = to }) => began <= to && ended >= from);
    return [...new Set(ran.map(({ account }) => account))];
  }
}
