import { WriteBehind } from '../async/write-behind.ts';
import type { Clock } from '../clock.ts';
import type { CountryDatabase } from '../geo/country-database.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { KeyStore, KeyUse } from './key-store.ts';

/** Each key is written at most this often by one process. */
const WRITE_EVERY_MS = 2000;

interface NotedUse {
  readonly keyId: string;
  readonly at: Date;
  readonly ip: string | null;
}

/** Writes behind when, and from where, keys were last used. A request only puts an entry into a list. */
export class LastUse {
  readonly #keys: KeyStore;
  readonly #countries: CountryDatabase;
  readonly #clock: Clock;
  readonly #uses: WriteBehind<NotedUse>;

  constructor(parts: { keys: KeyStore; countries: CountryDatabase; clock: Clock; logger: Logger }) {
    this.#keys = parts.keys;
    this.#countries = parts.countries;
    this.#clock = parts.clock;
    this.#uses = new WriteBehind((batch) => this.#write(batch), parts.logger, { delayMs: WRITE_EVERY_MS });
  }

  /** Never fails. */
  note(keyId: string, ip: string | undefined): void {
    this.#uses.add({ keyId, at: this.#clock.now(), ip: ip ?? null });
  }

  /** Resolves when everything noted so far is written, or could not be. */
  flush(): Promise<void> {
    return this.#uses.flush();
  }

  async #write(batch: readonly NotedUse[]): Promise<void> {
    // Of one key the last use alone: later entries take the places of earlier ones.
    const latest = new Map(batch.map((use) => [use.keyId, use]));
    const uses = new Map<string, KeyUse>();
    for (const [keyId, { at, ip }] of latest) {
      uses.set(keyId, { at, ip, geo: ip === null ? null : this.#countries.countryOf(ip) });
    }
    await this.#keys.noteUses(uses);
  }
}
