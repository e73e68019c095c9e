import { KeyedMutex } from '../async/keyed-mutex.ts';
import { PlatenError } from '../errors/registry.ts';
import type { TemplateEngine } from './engine/template-engine.ts';
import type { SavedTemplate, TemplateDraft, TemplateStore } from './template-store.ts';

const PREVIEW_TIMEOUT_MS = 3000;
/** Checks and previews of one account that wait for their turn, before it is told to wait by itself. */
const MAX_WAITING = 10;

/** Saves templates whose syntax is right, and shows what they come to. */
export class TemplateEditor {
  readonly #store: TemplateStore;
  readonly #engine: TemplateEngine;
  /** One at a time of each account: no account's slow templates hold up all others'. */
  readonly #perAccount = new KeyedMutex({ maxWaiting: MAX_WAITING, full: tooMany });

  constructor(store: TemplateStore, engine: TemplateEngine) {
    this.#store = store;
    this.#engine = engine;
  }

  /** @throws PlatenError TEMPLATE_ERROR with the line of a syntax error; TEMPLATE_CAPACITY; TOO_MANY_WAITING. */
  async create(accountId: string, draft: TemplateDraft): Promise<SavedTemplate> {
    await this.#check(accountId, draft.content);
    return this.#store.create(accountId, draft);
  }

  /** Saves a new version. @throws PlatenError TEMPLATE_ERROR, TOO_MANY_WAITING as `create`; NOT_FOUND. */
  async change(
    accountId: string,
    templateId: string,
    change: Partial<TemplateDraft>,
  ): Promise<SavedTemplate> {
    if (change.content !== undefined) await this.#check(accountId, change.content);
    const saved = await this.#store.save(accountId, templateId, change);
    if (saved === undefined) throw noTemplate(templateId);
    return saved;
  }

  /** Saves a new version that is as an old one was. @throws PlatenError NOT_FOUND. */
  async rollBack(accountId: string, templateId: string, versionId: string): Promise<SavedTemplate> {
    const old = await this.#store.resolve(accountId, templateId, versionId);
    if (old === undefined) throw noTemplate(templateId, versionId);
    const { name, content, sampleData } = old;
    return this.change(accountId, templateId, { name, content, sampleData });
  }

  /**
   * The HTML that content and data come to.
   *
   * @param maxBytes of the HTML.
   * @throws PlatenError TEMPLATE_ERROR; TOO_MANY_WAITING.
   */
  preview(accountId: string, content: string, data: object, maxBytes: number): Promise<string> {
    const limits = { timeoutMs: PREVIEW_TIMEOUT_MS, maxOutputBytes: maxBytes };
    return this.#perAccount.run(accountId, () => this.#engine.render(content, data, limits));
  }

  #check(accountId: string, content: string): Promise<void> {
    return this.#perAccount.run(accountId, () => this.#engine.check(content));
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
