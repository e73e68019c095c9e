/** How slowly something may come before it is given up. */
export interface LeastRateBounds {
  readonly bytesPerSecond: number;
  /** In each window of so many milliseconds the rate has to be kept. */
  readonly windowMs: number;
}

/** Something that is on its way. */
export interface Arriving {
  /** So many bytes of it have come. */
  came(bytes: number): void;
  /** It is here, or is not waited for any more. */
  done(): void;
}

interface Watched {
  /** Bytes that have come in this window. */
  bytes: number;
  /** Whether it has been watched for the whole of this window. */
  whole: boolean;
  readonly giveUp: () => void;
}

/** Watches what arrives, with one timer for all of it, and gives up what comes more slowly than it may. */
export class LeastRate {
  readonly #windowMs: number;
  readonly #leastBytes: number;
  readonly #watched = new Set<Watched>();
  #timer: NodeJS.Timeout | undefined;

  constructor({ bytesPerSecond, windowMs }: LeastRateBounds) {
    this.#windowMs = windowMs;
    this.#leastBytes = (bytesPerSecond * windowMs) / 1000;
  }

  /** @param giveUp called once, when too little has come in one window. */
  watch(giveUp: () => void): Arriving {
    const watched: Watched = { bytes: 0, whole: false, giveUp };
    this.#watched.add(watched);
    this.#timer ??= setInterval(() => this.#endWindow(), this.#windowMs);
    this.#timer.unref();
    return {
      came(bytes) {
        watched.bytes += bytes;
      },
      done: () => this.#forget(watched),
    };
  }

  #endWindow(): void {
    for (const watched of this.#watched) {
      const slow = watched.whole && watched.bytes < this.#leastBytes;
      if (slow) this.#lookAgain(watched);
      else watched.bytes = 0;
      watched.whole = true;
    }
  }

  /** A process that was held up has not read yet what has long come: that is read before this is asked again. */
  #lookAgain(watched: Watched): void {
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
