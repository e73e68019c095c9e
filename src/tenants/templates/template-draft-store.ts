import { randomUUID } from 'node:crypto';
import type { Connection } from 'mongoose';
import type { Clock } from '../../infra/clock.ts';
import { PlatenError } from '../../infra/errors/registry.ts';
import { Collection, type CollectionSpec } from '../../infra/store/collection.ts';
import type { RenderOptions } from '../../render/options/all/render-options.ts';

/** What is to become the next version of a template. It need not be valid before it is published. */
export interface StoredDraft {
  /** The id of its template, which has one draft at most. */
  readonly _id: string;
  readonly accountId: string;
  /** Another one after each change. */
  readonly draftId: string;
  readonly name: string;
  readonly content: string;
  readonly sampleData: string;
  /** Null for none. */
  readonly dataSchema: string | null;
  /** Null for none. */
  readonly options: RenderOptions | null;
  /** The version that it was made from. */
  readonly baseVersionId: string;
  /** The person who has changed it last. */
  readonly authorId: string | null;
  /** Bytes of its texts and options. */
  readonly size: number;
  readonly updatedAt: Date;
}

export type DraftContent = Omit<StoredDraft, '_id' | 'accountId' | 'draftId' | 'updatedAt'>;

const DRAFTS: CollectionSpec = {
  name: 'template_drafts',
  account: 'accountId',
  indexes: [{ fields: { accountId: 1, _id: 1 }, unique: 'embedded' }],
};
/** How often other changes of the same draft may come first before this one gives up. */
const TRIES = 100;

/** The drafts of templates. Renders never read them. */
export class TemplateDraftStore {
  readonly #drafts: Collection<StoredDraft>;
  readonly #clock: Clock;

  constructor(connection: Connection, clock: Clock) {
    this.#drafts = new Collection(connection, DRAFTS);
    this.#clock = clock;
  }

  async find(accountId: string, templateId: string): Promise<StoredDraft | undefined> {
    const draft = await this.#drafts.findById(templateId);
    return draft?.accountId === accountId ? draft : undefined;
  }

  /**
   * Makes this the draft of a template.
   *
   * @param expected the draft that it was made from: nobody may have changed it since. Null for none; undefined for
   * whatever there is.
   * @returns the draft, and the bytes of the one that it replaces.
   * @throws PlatenError TEMPLATE_CHANGED.
   */
  async put(
    accountId: string,
    templateId: string,
    content: DraftContent,
    expected?: string | null,
  ): Promise<{ readonly draft: StoredDraft; readonly freedBytes: number }> {
    for (let tries = 0; tries < TRIES; tries += 1) {
      const before = await this.find(accountId, templateId);
      if (expected !== undefined && expected !== (before?.draftId ?? null)) throw draftChanged();
      const change = { ...content, draftId: randomUUID(), updatedAt: this.#clock.now() };
      const draft: StoredDraft = { _id: templateId, accountId, ...change };
      const isPut =
        before === undefined
          ? await this.#drafts.insertIfAbsent(draft)
          : await this.#drafts.updateOne({ _id: templateId, draftId: before.draftId }, { $set: change });
      if (isPut) return { draft, freedBytes: before?.size ?? 0 };
    }
    throw new Error(`The draft of template ${templateId} is changed by too many at once.`);
  }

  /** @param draftId only while it is this one. @returns the bytes of the deleted draft; undefined without one. */
  async delete(accountId: string, templateId: string, draftId?: string): Promise<number | undefined> {
    const draft = await this.find(accountId, templateId);
    if (draft === undefined || (draftId !== undefined && draft.draftId !== draftId)) return undefined;
    const deleted = await this.#drafts.deleteOne({ _id: templateId, draftId: draft.draftId });
    return deleted ? draft.size : undefined;
  }

  /** Bytes of all drafts of an account. */
  async storedBytes(accountId: string): Promise<number> {
    const group = { $group: { _id: null, bytes: { $sum: '$size' } } };
    const [sum] = await this.#drafts.aggregate<{ bytes: number }>({ accountId }, [group]);
    return sum?.bytes ?? 0;
  }
}

export function draftChanged(): PlatenError {
  return new PlatenError('TEMPLATE_CHANGED', 'The draft of the template has been changed since.');
}
