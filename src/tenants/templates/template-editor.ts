import { KeyedMutex } from '../../infra/async/keyed-mutex.ts';
import { PlatenError } from '../../infra/errors/registry.ts';
import type { RenderOptions } from '../../render/options/all/render-options.ts';
import type { AuditLog, DoneBy } from '../audit/audit-log.ts';
import type { Plan } from '../plans/plan.ts';
import type { TemplateEngine } from './engine/template-engine.ts';
import { fillMargins, MAX_MARGIN_BYTES } from './fill-margins.ts';
import { type DraftContent, draftChanged, type StoredDraft } from './template-draft-store.ts';
import {
  draftOf,
  type Resaved,
  type SavedTemplate,
  type Signed,
  sizeOf,
  type TemplateDraft,
  type TemplateStore,
} from './template-store.ts';

const PREVIEW_TIMEOUT_MS = 3000;
/** Checks and previews of one account that wait; further ones are rejected. */
const MAX_WAITING = 10;

/** The account and the plan of templates. */
interface TemplateOwner {
  readonly accountId: string;
  readonly plan: Pick<Plan, 'maxStoredBytes' | 'features'>;
}

/** What the author of a version says of it. */
interface Message {
  readonly message?: string | undefined;
}

/** The bytes that an account stores. */
interface Room {
  /** @returns false when the account would store more than `max`. */
  take(accountId: string, stored: { readonly bytes: number; readonly max: number }): Promise<boolean>;
  giveBack(accountId: string, bytes: number): Promise<void>;
}

interface EditorDeps {
  readonly store: TemplateStore;
  readonly engine: TemplateEngine;
  readonly audit: AuditLog;
  readonly room: Room;
}

/** Saves templates with valid syntax, records each change in the audit log, and renders previews. */
export class TemplateEditor {
  readonly #deps: EditorDeps;
  /** One call at a time for each account: no account's slow templates hold up others. */
  readonly #perAccount = new KeyedMutex({ maxWaiting: MAX_WAITING, full: tooManyWaiting });

  constructor(deps: EditorDeps) {
    this.#deps = deps;
  }

  /**
   * @throws PlatenError TEMPLATE_ERROR with the line of a syntax error; VALIDATION for what is no schema;
   * TEMPLATE_CAPACITY; STORAGE_FULL; TOO_MANY_WAITING.
   */
  async create(
    owner: TemplateOwner,
    { message, ...draft }: TemplateDraft & Message,
    by: DoneBy,
  ): Promise<SavedTemplate> {
    const { accountId } = owner;
    await this.#check(accountId, draft);
    const saved = await this.#withRoom(owner, sizeOf(draft), () =>
      this.#deps.store.create(accountId, draft, signedBy(by, message)),
    );
    return this.#recorded(saved, by);
  }

  /**
   * Saves a new version.
   *
   * @param change.baseVersionId the version that the change was made from; without one it is made to the present version.
   * @throws PlatenError as `create`, but for TEMPLATE_CAPACITY; NOT_FOUND; TEMPLATE_CHANGED.
   */
  async change(
    owner: TemplateOwner,
    templateId: string,
    {
      baseVersionId,
      message,
      ...change
    }: Partial<TemplateDraft> & Message & { readonly baseVersionId?: string | undefined },
    by: DoneBy,
  ): Promise<SavedTemplate> {
    const signed = signedBy(by, message);
    return this.#recorded(await this.#save(owner, templateId, change, { signed, baseVersionId }), by);
  }

  /**
   * Keeps a draft beside a template, unchecked: renders never read it.
   *
   * @param draft.baseVersionId default: the present version.
   * @param expected as in `TemplateDraftStore.put`.
   * @throws PlatenError NOT_FOUND; STORAGE_FULL; TEMPLATE_CHANGED.
   */
  async saveDraft(
    owner: TemplateOwner,
    templateId: string,
    {
      baseVersionId,
      ...content
    }: Omit<DraftContent, 'authorId' | 'size' | 'baseVersionId'> & {
      readonly baseVersionId?: string | undefined;
    },
    by: DoneBy,
    expected?: string | null,
  ): Promise<StoredDraft> {
    const { accountId } = owner;
    const { drafts } = this.#deps.store;
    const base = await this.#deps.store.current(accountId, templateId);
    if (base === undefined) throw noTemplate(templateId);
    const size = sizeOf(content);
    const draft = {
      ...{ ...content, size, authorId: by.personId ?? null },
      baseVersionId: baseVersionId ?? base.version._id,
    };
    const put = await this.#withRoom(owner, size, () => drafts.put(accountId, templateId, draft, expected));
    if (put.freedBytes > 0) await this.#deps.room.giveBack(accountId, put.freedBytes);
    if ((await this.#deps.store.current(accountId, templateId)) !== undefined) return put.draft;
    // Deleted since; the draft must not stay.
    await this.discardDraft(accountId, templateId, put.draft.draftId);
    throw noTemplate(templateId);
  }

  /** @param draftId only while it is this one. @returns whether there was one. */
  async discardDraft(accountId: string, templateId: string, draftId?: string): Promise<boolean> {
    const freed = await this.#deps.store.drafts.delete(accountId, templateId, draftId);
    if (freed !== undefined) await this.#deps.room.giveBack(accountId, freed);
    return freed !== undefined;
  }

  /**
   * Saves the draft of a template as its new version. A crash before the draft is deleted leaves it as the draft of a
   * version that is not the present one any more: it is published no second time.
   *
   * @param valid the draft, once it fits what a version must be; throws PlatenError VALIDATION otherwise.
   * @param draftId the draft that the caller has seen.
   * @throws PlatenError NOT_FOUND without a draft; TEMPLATE_CHANGED when the draft or the template was changed
   * since; as `change`.
   */
  async publish(
    owner: TemplateOwner,
    templateId: string,
    {
      draftId,
      message,
      valid,
    }: Message & { draftId?: string | undefined; valid(draft: StoredDraft): TemplateDraft },
    by: DoneBy,
  ): Promise<SavedTemplate> {
    const { accountId } = owner;
    const draft = await this.#deps.store.drafts.find(accountId, templateId);
    if (draft === undefined) throw new PlatenError('NOT_FOUND', `The template ${templateId} has no draft.`);
    if (draftId !== undefined && draftId !== draft.draftId) throw draftChanged();
    const { baseVersionId } = draft;
    const saved = await this.change(owner, templateId, { ...valid(draft), message, baseVersionId }, by);
    await this.discardDraft(accountId, templateId, draft.draftId);
    return saved;
  }

  /** Saves a copy of an old version as a new one. @throws PlatenError NOT_FOUND; STORAGE_FULL. */
  async rollBack(
    owner: TemplateOwner,
    templateId: string,
    versionId: string,
    by: DoneBy,
  ): Promise<SavedTemplate> {
    const old = await this.#deps.store.resolve(owner.accountId, templateId, versionId);
    if (old === undefined) throw noTemplate(templateId, versionId);
    const change = { dataSchema: null, options: null, ...draftOf(old) };
    const signed = signedBy(by, `Roll back to version ${old.version}`);
    const saved = await this.#save(owner, templateId, change, { signed });
    return this.#recorded(saved, by, { rolledBackTo: versionId, rolledBackToVersion: String(old.version) });
  }

  /** Deletes a template and its versions. @throws PlatenError NOT_FOUND. */
  async delete(accountId: string, templateId: string, by: DoneBy): Promise<void> {
    const deleted = await this.#deps.store.delete(accountId, templateId);
    if (deleted === undefined) throw noTemplate(templateId);
    const { name, bytes } = deleted;
    await this.#deps.room.giveBack(accountId, bytes);
    const about = { targetId: templateId, details: { name } };
    await this.#deps.audit.record({ accountId, action: 'template.deleted', ...by, ...about });
  }

  /**
   * The HTML of a template's content with data, and its options with headers and footers that are filled in as well.
   *
   * @param options of its render, of which some say how to fill it in: language, time zone, whether all names must be in
   * the data.
   * @param data a JSON object as text.
   * @param maxBytes of the HTML.
   * @throws PlatenError TEMPLATE_ERROR; VALIDATION for data that do not fit the schema; TOO_MANY_WAITING.
   */
  preview(
    accountId: string,
    {
      content,
      dataSchema,
      options,
    }: Pick<TemplateDraft, 'content' | 'dataSchema'> & { readonly options: RenderOptions },
    data: string,
    maxBytes: number,
  ): Promise<{ html: string; options: RenderOptions }> {
    const { locale, timezone, strictData } = options;
    const terms = { locale, timezone, strictData, account: accountId };
    const render = (text: string, maxOutputBytes: number) =>
      this.#deps.engine.render(text, data, { timeoutMs: PREVIEW_TIMEOUT_MS, maxOutputBytes }, terms);
    return this.#perAccount.run(accountId, async () => {
      if (typeof dataSchema === 'string') await this.#requireFit(accountId, dataSchema, data);
      const html = await render(content, maxBytes);
      return { html, options: await fillMargins(options, (text) => render(text, MAX_MARGIN_BYTES)) };
    });
  }

  /** What is wrong with the data of a render, by the schema of its template; see `TemplateEngine.dataErrors`. */
  dataErrors(
    accountId: string,
    dataSchema: string,
    data: object,
    withinMs?: number,
  ): Promise<readonly string[]> {
    return this.#deps.engine.dataErrors(dataSchema, data, { account: accountId, withinMs });
  }

  /** Without history in its plan only the saved version is kept. */
  async #save(
    owner: TemplateOwner,
    templateId: string,
    change: Partial<TemplateDraft>,
    { signed, baseVersionId }: { signed: Signed; baseVersionId?: string | undefined },
  ): Promise<Resaved> {
    const { accountId, plan } = owner;
    const kept = plan.features.templateVersions ? undefined : 1;
    await this.#check(accountId, change);
    const base = await this.#deps.store.current(accountId, templateId);
    if (base === undefined) throw noTemplate(templateId);
    const bytes = sizeOf({ ...base.version, ...change });
    const saved = await this.#withRoom(owner, bytes, async (): Promise<Resaved> => {
      const resaved = await this.#deps.store.save(accountId, templateId, change, {
        signed,
        ...(kept !== undefined && { kept }),
        ...(baseVersionId !== undefined && { baseVersionId }),
      });
      if (resaved === undefined) throw noTemplate(templateId);
      return resaved;
    });
    // Another process may have saved another field meanwhile, so that the version's size differs from the estimate.
    const spare = saved.freedBytes + bytes - sizeOf(saved.version);
    if (spare !== 0) await this.#deps.room.giveBack(accountId, spare);
    return saved;
  }

  /** Reserves storage for a save, and gives it back if the save fails. @throws PlatenError STORAGE_FULL. */
  async #withRoom<T>({ accountId, plan }: TemplateOwner, bytes: number, save: () => Promise<T>): Promise<T> {
    const max = plan.maxStoredBytes;
    if (!(await this.#deps.room.take(accountId, { bytes, max }))) {
      throw new PlatenError(
        'STORAGE_FULL',
        `The account has no room for ${bytes} bytes more; the plan allows ${max} in all.`,
      );
    }
    try {
      return await save();
    } catch (error) {
      await this.#deps.room.giveBack(accountId, bytes);
      throw error;
    }
  }

  /** @param details of the audit entry, besides the version. */
  async #recorded(
    saved: SavedTemplate,
    by: DoneBy,
    details: Record<string, string> = {},
  ): Promise<SavedTemplate> {
    const { template, version } = saved;
    await this.#deps.audit.record({
      accountId: template.accountId,
      action: 'template.saved',
      ...by,
      targetId: template._id,
      details: {
        name: version.name,
        versionId: version._id,
        version: String(version.version),
        ...(version.message !== undefined && { message: version.message }),
        ...details,
      },
    });
    return saved;
  }

  async #check(accountId: string, { content, dataSchema, options }: Partial<TemplateDraft>): Promise<void> {
    if (content === undefined && typeof dataSchema !== 'string' && options == null) return;
    await this.#perAccount.run(accountId, async () => {
      if (content !== undefined) await this.#deps.engine.check(content, accountId);
      if (typeof dataSchema === 'string') await this.#deps.engine.checkSchema(dataSchema, accountId);
      if (options == null) return;
      await fillMargins(options, async (text) => {
        await this.#deps.engine.check(text, accountId);
        return text;
      });
    });
  }

  async #requireFit(accountId: string, dataSchema: string, data: string): Promise<void> {
    const errors = await this.#deps.engine.dataErrors(dataSchema, data, { account: accountId });
    const [first] = errors;
    if (first !== undefined)
      throw new PlatenError('VALIDATION', errors[0], {
        details: errors.map((error) => `sample${capitalised(error)}`),
      });
  }
}

function signedBy({ personId }: DoneBy, message: string | undefined): Signed {
  return {
    ...(personId !== undefined && { authorId: personId }),
    ...(message !== undefined && message !== '' && { message }),
  };
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** @param versionId set when only the version is missing. */
export function noTemplate(templateId: string, versionId?: string): PlatenError {
  const what = versionId === undefined ? '' : ` with a version ${versionId}`;
  return new PlatenError('NOT_FOUND', `There is no template ${templateId}${what}.`);
}

function tooManyWaiting(): PlatenError {
  return new PlatenError('TOO_MANY_WAITING', 'Too many templates of this account are being tried.', {
    retryAfterSeconds: Math.ceil((PREVIEW_TIMEOUT_MS * MAX_WAITING) / 1000),
  });
}
