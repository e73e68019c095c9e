/** The least rate at which data must be received. */
interface LeastRateBounds {
  readonly bytesPerSecond: number;
  /** The window over which the rate is measured, in milliseconds. */
  readonly windowMs: number;
}

interface Watched {
  bytes: number;
  /** Whether it has been watched for the whole of this window. */
  whole: boolean;
  readonly giveUp: () => void;
}

/** Watches incoming data with one timer, and gives up data that are received more slowly than the least rate. */
export class LeastRate {
  readonly #windowMs: number;
  readonly #leastBytes: number;
  readonly #watched = new Set<Watched>();
  #timer: NodeJS.Timeout | undefined;

  constructor({ bytesPerSecond, windowMs }: LeastRateBounds) {
    this.#windowMs = windowMs;
    this.#leastBytes = (bytesPerSecond * windowMs) / 1000;
  }

  /** @param giveUp called once, when too few bytes were received in one window. */
  watch(giveUp: () => void) {
    const watched: Watched = { bytes: 0, whole: false, giveUp };
    this.#watched.add(watched);
    this.#timer ??= setInterval(() => this.#endWindow(), this.#windowMs);
    this.#timer.unref();
    return {
      received(bytes: number) {
        watched.bytes += bytes;
      },
      done: () => this.#forget(watched),
    };
  }

  #endWindow(): void {
    for (const watched of this.#watched) {
      const slow = watched.whole && watched.bytes < this.#leastBytes;
      if (slow) this.#checkAgain(watched);
      else watched.bytes = 0;
      watched.whole = true;
    }
  }

  /** After a blocked event loop, sockets may have unread data, which is read before the second check. */
  #checkAgain(watched: Watched): void {
    setImmediate(() => {
      setImmediate(() => {
        if (this.#watched.has(watched) && watched.bytes < this.#leastBytes) {
          this.#forget(watched);
          watched.giveUp();
        }
        watched.bytes = 0;
      });
    });
  }

  #forget(watched: Watched): void {
    this.#watched.delete(watched);
    if (this.#watched.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
