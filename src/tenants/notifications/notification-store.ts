import type { Connection } from 'mongoose';
import { Collection, type CollectionSpec, type Update } from '../../infra/store/collection.ts';
import type { Choices } from './alert-kinds.ts';
import { DEFAULT_THRESHOLDS, type Thresholds } from './thresholds.ts';

/** Of what an account is alerted, and who of its people by mail. */
interface NotificationSettings {
  /** The account. */
  readonly _id: string;
  /** What people have chosen, by person: of those who have chosen, which the number of members bounds. */
  readonly people?: Readonly<Record<string, Choices>>;
  /** What differs from the default. */
  readonly thresholds?: Partial<Thresholds>;
}

const SETTINGS: CollectionSpec = { name: 'notification_settings', account: '_id' };

/** Owns the settings of notifications. An account without a record has the defaults. */
export class NotificationStore {
  readonly #settings: Collection<NotificationSettings>;

  /** To be created before the connection's indexes. */
  constructor(connection: Connection) {
    this.#settings = new Collection(connection, SETTINGS);
  }

  async of(accountId: string): Promise<{
    readonly thresholds: Thresholds;
    readonly choicesOf: (personId: string) => Choices;
  }> {
    const found = await this.#settings.findById(accountId);
    return {
      thresholds: { ...DEFAULT_THRESHOLDS, ...found?.thresholds },
      choicesOf: (personId) => found?.people?.[personId] ?? {},
    };
  }

  choose(accountId: string, personId: string, choices: Choices): Promise<void> {
    return this.#set(accountId, `people.${personId}`, choices);
  }

  setThresholds(accountId: string, thresholds: Partial<Thresholds>): Promise<void> {
    return this.#set(accountId, 'thresholds', thresholds);
  }

  async #set(accountId: string, path: string, values: object): Promise<void> {
    const given = Object.entries(values).filter(([, value]) => value !== undefined);
    if (given.length === 0) return;
    const $set = Object.fromEntries(given.map(([name, value]) => [`${path}.${name}`, value]));
    await this.#settings.upsert(accountId, { $set } as Update<NotificationSettings>);
  }
}
