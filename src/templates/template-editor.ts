import { KeyedMutex } from '../async/keyed-mutex.ts';
import type { AuditLog, DoneBy } from '../audit/audit-log.ts';
import { PlatenError } from '../errors/registry.ts';
import type { TemplateEngine } from './engine/template-engine.ts';
import type { SavedTemplate, TemplateDraft, TemplateStore } from './template-store.ts';

const PREVIEW_TIMEOUT_MS = 3000;
/** Checks and previews of one account that wait for their turn, before it is told to wait by itself. */
const MAX_WAITING = 10;

/** Saves templates whose syntax is right, records each change in the audit log, and shows what templates come to. */
export class TemplateEditor {
  readonly #store: TemplateStore;
  readonly #engine: TemplateEngine;
  readonly #audit: AuditLog;
  /** One at a time of each account: no account's slow templates hold up all others'. */
  readonly #perAccount = new KeyedMutex({ maxWaiting: MAX_WAITING, full: tooMany });

  constructor(parts: { store: TemplateStore; engine: TemplateEngine; audit: AuditLog }) {
    this.#store = parts.store;
    this.#engine = parts.engine;
    this.#audit = parts.audit;
  }

  /** @throws PlatenError TEMPLATE_ERROR with the line of a syntax error; TEMPLATE_CAPACITY; TOO_MANY_WAITING. */
  async create(accountId: string, draft: TemplateDraft, by: DoneBy): Promise<SavedTemplate> {
    await this.#check(accountId, draft.content);
    return this.#recorded(await this.#store.create(accountId, draft), by);
  }

  /** Saves a new version. @throws PlatenError TEMPLATE_ERROR, TOO_MANY_WAITING as `create`; NOT_FOUND. */
  async change(
    accountId: string,
    templateId: string,
    change: Partial<TemplateDraft>,
    by: DoneBy,
  ): Promise<SavedTemplate> {
    return this.#recorded(await this.#save(accountId, templateId, change), by);
  }

  /** Saves a new version that is as an old one was. @throws PlatenError NOT_FOUND. */
  async rollBack(
    accountId: string,
    templateId: string,
    versionId: string,
    by: DoneBy,
  ): Promise<SavedTemplate> {
    const old = await this.#store.resolve(accountId, templateId, versionId);
    if (old === undefined) throw noTemplate(templateId, versionId);
    const { name, content, sampleData } = old;
    const saved = await this.#save(accountId, templateId, { name, content, sampleData });
    return this.#recorded(saved, by, { rolledBackTo: versionId });
  }

  /** Deletes a template and its versions. @throws PlatenError NOT_FOUND. */
  async delete(accountId: string, templateId: string, by: DoneBy): Promise<void> {
    if (!(await this.#store.delete(accountId, templateId))) throw noTemplate(templateId);
    await this.#audit.record({ accountId, action: 'template.deleted', ...by, targetId: templateId });
  }

  /**
   * The HTML that content and data come to.
   *
   * @param maxBytes of the HTML.
   * @throws PlatenError TEMPLATE_ERROR; TOO_MANY_WAITING.
   */
  preview(accountId: string, content: string, data: object, maxBytes: number): Promise<string> {
    const limits = { timeoutMs: PREVIEW_TIMEOUT_MS, maxOutputBytes: maxBytes };
    return this.#perAccount.run(accountId, () =>
      this.#engine.render(content, data, limits, { account: accountId }),
    );
  }

  async #save(accountId: string, templateId: string, change: Partial<TemplateDraft>): Promise<SavedTemplate> {
    if (change.content !== undefined) await this.#check(accountId, change.content);
    const saved = await this.#store.save(accountId, templateId, change);
    if (saved === undefined) throw noTemplate(templateId);
    return saved;
  }

  /** @param details what came to the save besides its version. */
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
      details: { versionId: version._id, version: String(version.version), ...details },
    });
    return saved;
  }

  #check(accountId: string, content: string): Promise<void> {
    return this.#perAccount.run(accountId, () => this.#engine.check(content, accountId));
  }
}

/** @param versionId when it is a version that is missing. */
export function noTemplate(templateId: string, versionId?: string): PlatenError {
  const what = versionId === undefined ? '' : ` with a version ${versionId}`;
  return new PlatenError('NOT_FOUND', `There is no template ${templateId}${what}.`);
}

function tooMany(): PlatenError {
  return new PlatenError('TOO_MANY_WAITING', 'Too many templates of this account are being tried.', {
    retryAfterSeconds: Math.ceil((PREVIEW_TIMEOUT_MS * MAX_WAITING) / 1000),
  });
}
