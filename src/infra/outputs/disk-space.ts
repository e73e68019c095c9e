import { statfsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

const MIB = 1024 * 1024;
/** Bytes that are kept free for accepted jobs: for their PDFs, and for what the database writes meanwhile. */
const KEPT_FREE_BYTES = 32 * MIB;
/** The interval between attempts of a write that found the disk full, in milliseconds. */
const RETRY_MS = 500;
/** How long the result of a check is used, in milliseconds, because every submission requests one. */
const CHECK_HOLDS_MS = 500;

/** The result of a check. */
interface FreeSpace {
  readonly bytes: number;
}

interface DiskSpaceOptions {
  /** Free bytes below which no new work is accepted. */
  readonly keptFreeBytes?: number;
  /** Replaces the check of the disk, for tests. @throws when the folder does not exist. */
  readonly check?: (folder: string) => FreeSpace;
}

/** Watches the disk of a folder, and lets writes wait for free space. */
export class DiskSpace {
  readonly #folder: string;
  readonly #keptFreeBytes: number;
  readonly #check: (folder: string) => FreeSpace;
  #waiting = 0;
  #known: { readonly until: number; readonly problem: string | undefined } = { until: 0, problem: undefined };

  constructor(folder: string, options: DiskSpaceOptions = {}) {
    this.#folder = folder;
    this.#keptFreeBytes = options.keptFreeBytes ?? KEPT_FREE_BYTES;
    this.#check = options.check ?? checkAtDisk;
  }

  /** Why no new work should be accepted; undefined while there is space. */
  problem(): string | undefined {
    if (this.#waiting > 0) return `disk full: ${this.#waiting} PDFs wait for room in ${this.#folder}`;
    const now = performance.now();
    if (now >= this.#known.until) this.#known = { until: now + CHECK_HOLDS_MS, problem: this.#tooLittle() };
    return this.#known.problem;
  }

  /**
   * Runs `write`, repeatedly while the disk is full. `write` must leave nothing behind when it fails.
   *
   * @throws other errors of `write`; the signal's reason when it aborts during a wait.
   */
  async whenThereIsRoom<T>(write: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    try {
      return await write();
    } catch (error) {
      if (!isDiskFull(error)) throw error;
    }
    this.#waiting += 1;
    try {
      for (;;) {
        await sleep(RETRY_MS, undefined, signal && { signal });
        try {
          return await write();
        } catch (error) {
          if (!isDiskFull(error)) throw error;
        }
      }
    } finally {
      this.#waiting -= 1;
    }
  }

  #tooLittle(): string | undefined {
    let bytes: number;
    try {
      ({ bytes } = this.#check(this.#folder));
    } catch {
      // The folder does not exist yet or cannot be read; a write will report that.
      return undefined;
    }
    if (bytes >= this.#keptFreeBytes) return undefined;
    return `disk full: ${this.#folder} has ${inMib(bytes)} MiB free, and the last ${inMib(this.#keptFreeBytes)} MiB are for work already accepted`;
  }
}

/** The disk is full, or the user's quota on it is used up. */
function isDiskFull(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ENOSPC' || code === 'EDQUOT';
}

function checkAtDisk(folder: string): FreeSpace {
  const { bavail, bsize } = statfsSync(folder);
  return { bytes: bavail * bsize };
}

function inMib(bytes: number): number {
  return Math.floor(bytes / MIB);
}
