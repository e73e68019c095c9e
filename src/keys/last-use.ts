import type { Clock } from '../clock.ts';
import type { CountryDatabase } from '../geo/country-database.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { KeyStore, KeyUse } from './key-store.ts';

/** Each key is written at most this often by one process. */
const WRITE_EVERY_MS = 2000;
/** Keys that wait to be written; past it further ones are left out until the next write. */
const MAX_WAITING = 50_000;

/** Writes behind when, and from where, keys were last used. A request only puts an entry into a map. */
export class LastUse {
  readonly #parts: { keys: KeyStore; countries: CountryDatabase; clock: Clock; logger: Logger };
  #waiting = new Map<string, { at: Date; ip: string | null }>();
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> = Promise.resolve();

  constructor(parts: { keys: KeyStore; countries: CountryDatabase; clock: Clock; logger: Logger }) {
    this.#parts = parts;
  }

  /** Never fails. */
  note(keyId: string, ip: string | undefined): void {
    if (this.#waiting.size >= MAX_WAITING && !this.#waiting.has(keyId)) return;
    this.#waiting.set(keyId, { at: this.#parts.clock.now(), ip: ip ?? null });
    this.#timer ??= setTimeout(() => void this.flush(), WRITE_EVERY_MS).unref();
  }

  /** Resolves when everything noted so far is written, or could not be. */
  flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const batch = this.#waiting;
    this.#waiting = new Map();
    this.#writing = this.#writing.then(() => this.#write(batch));
    return this.#writing;
  }

  async #write(batch: ReadonlyMap<string, { at: Date; ip: string | null }>): Promise<void> {
    if (batch.size === 0) return;
    const { keys, countries, logger } = this.#parts;
    const uses = new Map<string, KeyUse>();
    for (const [keyId, { at, ip }] of batch) {
      uses.set(keyId, { at, ip, geo: ip === null ? null : countries.countryOf(ip) });
    }
    try {
      await keys.noteUses(uses);
    } catch (error) {
      // The next use is written anyway; an older one is not worth a queue.
      logger.warn({ err: error, keys: batch.size }, 'last use of keys not written');
    }
  }
}
