import { KeyedMutex } from '../../infra/async/keyed-mutex.ts';
import { PlatenError } from '../../infra/errors/registry.ts';
import type { RenderOptions } from '../../render/options/all/render-options.ts';
import type { AuditLog, DoneBy } from '../audit/audit-log.ts';
import type { Plan } from '../plans/plan.ts';
import type { TemplateEngine } from './engine/template-engine.ts';
import { fillMargins, MAX_MARGIN_BYTES } from './fill-margins.ts';
import {
  draftOf,
  type Resaved,
  type SavedTemplate,
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

/** The bytes that an account stores. */
interface Room {
  /** @returns false when the account would store more than `max`. */
  take(accountId: string, stored: { readonly bytes: number; readonly max: number }): Promise<boolean>;
  giveBack(accountId: string, bytes: number): Promise<void>;
}

/** Saves templates with valid syntax, records each change in the audit log, and renders previews. */
export class TemplateEditor {
  readonly #store: TemplateStore;
  readonly #engine: TemplateEngine;
  readonly #audit: AuditLog;
  readonly #room: Room;
  /** One call at a time for each account: no account's slow templates hold up others. */
  readonly #perAccount = new KeyedMutex({ maxWaiting: MAX_WAITING, full: tooManyWaiting });

  constructor(deps: { store: TemplateStore; engine: TemplateEngine; audit: AuditLog; room: Room }) {
    this.#store = deps.store;
    this.#engine = deps.engine;
    this.#audit = deps.audit;
    this.#room = deps.room;
  }

  /**
   * @throws PlatenError TEMPLATE_ERROR with the line of a syntax error; VALIDATION for what is no schema;
   * TEMPLATE_CAPACITY; STORAGE_FULL; TOO_MANY_WAITING.
   */
  async create(owner: TemplateOwner, draft: TemplateDraft, by: DoneBy): Promise<SavedTemplate> {
    const { accountId } = owner;
    await this.#check(accountId, draft);
    const saved = await this.#withRoom(owner, sizeOf(draft), () => this.#store.create(accountId, draft));
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
    { baseVersionId, ...change }: Partial<TemplateDraft> & { readonly baseVersionId?: string | undefined },
    by: DoneBy,
  ): Promise<SavedTemplate> {
    return this.#recorded(await this.#save(owner, templateId, change, baseVersionId), by);
  }

  /** Saves a copy of an old version as a new one. @throws PlatenError NOT_FOUND; STORAGE_FULL. */
  async rollBack(
    owner: TemplateOwner,
    templateId: string,
    versionId: string,
    by: DoneBy,
  ): Promise<SavedTemplate> {
    const old = await this.#store.resolve(owner.accountId, templateId, versionId);
    if (old === undefined) throw noTemplate(templateId, versionId);
    const saved = await this.#save(owner, templateId, { dataSchema: null, options: null, ...draftOf(old) });
    return this.#recorded(saved, by, { rolledBackTo: versionId, rolledBackToVersion: String(old.version) });
  }

  /** Deletes a template and its versions. @throws PlatenError NOT_FOUND. */
  async delete(accountId: string, templateId: string, by: DoneBy): Promise<void> {
    const deleted = await this.#store.delete(accountId, templateId);
    if (deleted === undefined) throw noTemplate(templateId);
    const { name, bytes } = deleted;
    await this.#room.giveBack(accountId, bytes);
    const about = { targetId: templateId, details: { name } };
    await this.#audit.record({ accountId, action: 'template.deleted', ...by, ...about });
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
      this.#engine.render(text, data, { timeoutMs: PREVIEW_TIMEOUT_MS, maxOutputBytes }, terms);
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
    return this.#engine.dataErrors(dataSchema, data, { account: accountId, withinMs });
  }

  /** Without history in its plan only the saved version is kept. */
  async #save(
    owner: TemplateOwner,
    templateId: string,
    change: Partial<TemplateDraft>,
    baseVersionId?: string,
  ): Promise<SavedTemplate> {
    const { accountId, plan } = owner;
    const kept = plan.features.templateVersions ? undefined : 1;
    await this.#check(accountId, change);
    const base = await this.#store.current(accountId, templateId);
    if (base === undefined) throw noTemplate(templateId);
    const bytes = sizeOf({ ...base.version, ...change });
    const saved = await this.#withRoom(owner, bytes, async (): Promise<Resaved> => {
      const resaved = await this.#store.save(accountId, templateId, change, {
        ...(kept !== undefined && { kept }),
        ...(baseVersionId !== undefined && { baseVersionId }),
      });
      if (resaved === undefined) throw noTemplate(templateId);
      return resaved;
    });
    // Another process may have saved another field meanwhile, so that the version's size differs from the estimate.
    const spare = saved.freedBytes + bytes - sizeOf(saved.version);
    if (spare !== 0) await this.#room.giveBack(accountId, spare);
    return saved;
  }

  /** Reserves storage for a save, and gives it back if the save fails. @throws PlatenError STORAGE_FULL. */
  async #withRoom<T>({ accountId, plan }: TemplateOwner, bytes: number, save: () => Promise<T>): Promise<T> {
    const max = plan.maxStoredBytes;
    if (!(await this.#room.take(accountId, { bytes, max }))) {
      throw new PlatenError(
        'STORAGE_FULL',
        `The account has no room for ${bytes} bytes more; the plan allows ${max} in all.`,
      );
    }
    try {
      return await save();
    } catch (error) {
      await this.#room.giveBack(accountId, bytes);
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
    await this.#audit.record({
      accountId: template.accountId,
      action: 'template.saved',
      ...by,
      targetId: template._id,
      details: {
        name: version.name,
        versionId: version._id,
        version: String(version.version),
        ...details,
      },
    });
    return saved;
  }

  async #check(accountId: string, { content, dataSchema, options }: Partial<TemplateDraft>): Promise<void> {
    if (content === undefined && typeof dataSchema !== 'string' && options == null) return;
    await this.#perAccount.run(accountId, async () => {
      if (content !== undefined) await this.#engine.check(content, accountId);
      if (typeof dataSchema === 'string') await this.#engine.checkSchema(dataSchema, accountId);
      if (options == null) return;
      await fillMargins(options, async (text) => {
        await this.#engine.check(text, accountId);
        return text;
      });
    });
  }

  async #requireFit(accountId: string, dataSchema: string, data: string): Promise<void> {
    const errors = await this.#engine.dataErrors(dataSchema, data, { account: accountId });
    const [first] = errors;
    if (first !== undefined)
      throw new PlatenError('VALIDATION', errors[0], {
        details: errors.map((error) => `sample${capitalised(error)}`),
      });
  }
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
