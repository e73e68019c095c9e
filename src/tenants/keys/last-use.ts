import { WriteBehind } from '../../infra/async/write-behind.ts';
import type { Clock } from '../../infra/clock.ts';
import type { Logger } from '../../infra/telemetry/logger.ts';
import type { CountryDatabase } from './country-database.ts';
import type { KeyStore, KeyUse } from './key-store.ts';

/**
 * A process writes the last uses of all keys together, once in this time at most; in milliseconds. A shorter time would be a
 * write for each request where a process serves one a second.
 */
const WRITE_EVERY_MS = 15_000;

interface NotedUse {
  readonly keyId: string;
  readonly at: Date;
  readonly ip: string | null;
}

/** Records when, and from which address, keys were last used: requests add to a list, written in the background. */
export class LastUse {
  readonly #keys: KeyStore;
  readonly #countries: CountryDatabase;
  readonly #clock: Clock;
  readonly #uses: WriteBehind<NotedUse>;

  constructor(deps: { keys: KeyStore; countries: CountryDatabase; clock: Clock; logger: Logger }) {
    this.#keys = deps.keys;
    this.#countries = deps.countries;
    this.#clock = deps.clock;
    this.#uses = new WriteBehind((batch) => this.#write(batch), deps.logger, { delayMs: WRITE_EVERY_MS });
  }

  /** Never fails. */
  note(keyId: string, ip: string | undefined): void {
    this.#uses.add({ keyId, at: this.#clock.now(), ip: ip ?? null });
  }

  /** Resolves when every use noted so far has been written, or its write has failed. */
  flush(): Promise<void> {
    return this.#uses.flush();
  }

  async #write(batch: readonly NotedUse[]): Promise<void> {
    // Only the last use of each key: later entries replace earlier ones.
    const latest = new Map(batch.map((use) => [use.keyId, use]));
    const uses = new Map<string, KeyUse>();
    for (const [keyId, { at, ip }] of latest) {
      uses.set(keyId, { at, ip, geo: ip === null ? null : this.#countries.countryOf(ip) });
    }
    await this.#keys.noteUses(uses);
  }
}
