/** The output: stderr, so that stdout can be piped. */
export interface ProgressStream {
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
  write(text: string): unknown;
}

const WIDTH = 30;
/** Without a terminal, a line is written for each tenth of the whole. */
const STEPS = 10;

/** Shows progress: on a terminal by one line that is redrawn, elsewhere by at most ten lines. */
export class ProgressBar {
  readonly #stream: ProgressStream;
  #reported = -1;
  #drawn = false;

  constructor(stream: ProgressStream) {
    this.#stream = stream;
  }

  /** @param note text after the numbers: `3 failed`. */
  show(done: number, total: number, note = ''): void {
    const share = total === 0 ? 1 : done / total;
    const counts = `${done} of ${total}${note === '' ? '' : `, ${note}`}`;
    if (this.#stream.isTTY) {
      const filled = Math.floor(share * WIDTH);
      const bar = `${'#'.repeat(filled)}${'.'.repeat(WIDTH - filled)}`;
      const line = `[${bar}] ${String(Math.floor(share * 100)).padStart(3)} %  ${counts}`;
      this.#drawn = true;
      this.#stream.write(`\r${line.slice(0, (this.#stream.columns ?? 80) - 1)}\x1b[K`);
      return;
    }
    const step = Math.floor(share * STEPS);
    if (step === this.#reported) return;
    this.#reported = step;
    this.#stream.write(`${counts}\n`);
  }

  /** Ends the line of the bar, so that later output begins on a line of its own. */
  end(): void {
    if (this.#drawn) this.#stream.write('\n');
    this.#drawn = false;
  }
}
