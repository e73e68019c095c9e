import { randomUUID } from 'node:crypto';
import type { Connection, mongo } from 'mongoose';
import type { Clock } from '../../infra/clock.ts';
import { PlatenError } from '../../infra/errors/registry.ts';
import { Collection, type CollectionSpec } from '../../infra/store/collection.ts';
import type { RenderOptions } from '../../render/options/all/render-options.ts';
import { MAX_INPUT_BYTES } from '../plans/plan.ts';
import { TemplateDraftStore } from './template-draft-store.ts';

export interface Template {
  readonly _id: string;
  readonly accountId: string;
  readonly name: string;
  /** The version that renders use unless they pin another. */
  readonly currentVersionId: string;
  /** Its number; the first is 1. */
  readonly version: number;
  /** Bytes of its content, sample data, schema and options. */
  readonly size: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** Never changes once it is written. */
export interface TemplateVersion {
  readonly _id: string;
  readonly templateId: string;
  readonly accountId: string;
  readonly version: number;
  readonly name: string;
  readonly content: string;
  readonly sampleData: string;
  /** The JSON Schema of its data, as text; absent or null without one. */
  readonly dataSchema?: string | null;
  /** The options of its renders; absent or null without any. No secrets: see `savedOptionsSchema`. */
  readonly options?: RenderOptions | null;
  /** The person who has saved it; absent when that is not known. */
  readonly authorId?: string;
  /** What its author says of it. */
  readonly message?: string;
  /** Bytes of its texts and options. */
  readonly size: number;
  readonly createdAt: Date;
}

/** Who saves a version, and what is said of it. */
export type Signed = Pick<TemplateVersion, 'authorId' | 'message'>;

export type TemplateDraft = Pick<
  TemplateVersion,
  'name' | 'content' | 'sampleData' | 'dataSchema' | 'options'
>;

/** A template with one of its versions. */
export interface SavedTemplate {
  readonly template: Template;
  readonly version: TemplateVersion;
}

/** A saved template, and the bytes of older versions that the save deleted. */
export interface Resaved extends SavedTemplate {
  readonly freedBytes: number;
}

export type VersionSummary = Omit<TemplateVersion, 'content' | 'sampleData' | 'dataSchema' | 'options'>;

export interface Page {
  readonly limit: number;
  readonly offset: number;
}

export interface TemplateBounds {
  /** Templates of one account. Concurrent creations may exceed it by their number. */
  readonly templates: number;
  readonly versions: number;
}

export const TEMPLATE_BOUNDS: TemplateBounds = { templates: 1000, versions: 1000 };

/** How often other saves of the same template may come first before this one gives up. */
const SAVE_TRIES = 100;
/** How often all kept versions may be replaced while their template is read, before the reader gives up. */
const READ_TRIES = 100;
/** Bytes of the templates in one page of a list: a page must not use up the memory of other requests. */
const MAX_PAGE_BYTES = 2 * 1024 * 1024;

const TEMPLATES: CollectionSpec = {
  name: 'templates',
  account: 'accountId',
  // Unique, as the id in it is: the embedded database reads parts of such indexes alone (docs/decisions/0178).
  indexes: [{ fields: { accountId: 1, createdAt: 1, _id: 1 }, unique: 'embedded' }],
};
const VERSIONS: CollectionSpec = {
  name: 'template_versions',
  account: 'accountId',
  // Two concurrent saves get two numbers: one of them conflicts in this index and counts again.
  indexes: [
    { fields: { templateId: 1, version: 1 }, unique: true },
    { fields: { accountId: 1, _id: 1 }, unique: 'embedded' },
  ],
};

/** Read access to templates; changes go through the `TemplateEditor`. */
export type TemplateReader = Pick<
  TemplateStore,
  'current' | 'list' | 'listVersions' | 'resolve' | 'summaries'
> & { readonly drafts: Pick<TemplateDraftStore, 'find'> };

/** Owns the templates and their versions. Changes go through the `TemplateEditor`, which records them. */
export class TemplateStore {
  readonly #templates: Collection<Template>;
  readonly #versions: Collection<TemplateVersion>;
  readonly #clock: Clock;
  readonly #bounds: TemplateBounds;
  readonly drafts: TemplateDraftStore;

  constructor(connection: Connection, clock: Clock, bounds = TEMPLATE_BOUNDS) {
    this.drafts = new TemplateDraftStore(connection, clock);
    this.#templates = new Collection(connection, TEMPLATES);
    this.#versions = new Collection(connection, VERSIONS);
    this.#clock = clock;
    this.#bounds = bounds;
  }

  /** @throws PlatenError TEMPLATE_CAPACITY. */
  async create(accountId: string, draft: TemplateDraft, signed: Signed = {}): Promise<SavedTemplate> {
    const bound = this.#bounds.templates;
    if ((await this.#templates.count({ accountId })) >= bound) {
      throw new PlatenError('TEMPLATE_CAPACITY', `An account may have ${bound} templates.`);
    }
    const templateId = randomUUID();
    const version = this.#newVersion(accountId, templateId, 1, draft, signed);
    const template: Template = {
      _id: templateId,
      accountId,
      ...pointerTo(version),
      createdAt: version.createdAt,
    };
    // The version is written first: a template never points at a missing one.
    await this.#versions.insert(version);
    await this.#templates.insert(template);
    return { template, version };
  }

  /**
   * Saves a new version: the latest one with `change` applied to it. Concurrent saves of other fields are kept. The
   * oldest versions beyond the kept number are deleted.
   *
   * @param kept versions of the template to keep, up to the store's own bound.
   * @param baseVersionId the version that the change was made from: the template must not have been saved since.
   * @throws PlatenError INPUT_TOO_LARGE when the kept and the changed fields together exceed one version's bound;
   * TEMPLATE_CHANGED.
   * @returns undefined when the account has no such template, or no longer.
   */
  async save(
    accountId: string,
    templateId: string,
    change: Partial<TemplateDraft>,
    {
      kept = this.#bounds.versions,
      baseVersionId,
      signed = {},
    }: { kept?: number; baseVersionId?: string; signed?: Signed } = {},
  ): Promise<Resaved | undefined> {
    const keep = Math.min(kept, this.#bounds.versions);
    let base = (await this.current(accountId, templateId))?.version;
    let countedByOthers = 0;
    for (let tries = 0; base !== undefined && tries < SAVE_TRIES; tries += 1) {
      if (baseVersionId !== undefined && base._id !== baseVersionId) throw changedSince(base);
      const changed = draftOf({ ...base, ...change });
      const version = this.#newVersion(accountId, templateId, base.version + 1, changed, signed);
      // No other save has used this number meanwhile.
      if (await this.#versions.insertIfAbsent(version)) {
        const template = await this.#pointAt(version);
        if (template === undefined) return undefined;
        if (template.version < version.version + keep) {
          const freedBytes = (await this.#deleteOld(version, keep)) - countedByOthers;
          return { template: { ...template, ...pointerTo(version) }, version, freedBytes };
        }
        // More saves came first than versions are kept, so this version is not kept. They may not include it: its
        // number may have been free because the version that had it is already deleted. So it is saved again, on top
        // of the other saves.
        if (!(await this.#versions.deleteOne({ _id: version._id }))) countedByOthers += sizeOf(version);
      }
      base = await this.#latest(templateId);
    }
    if (base === undefined) return undefined;
    throw new Error(`Template ${templateId} is saved by too many at once.`);
  }

  /** Accepted jobs have copies. @returns its name, and the bytes of its versions; undefined without such a template. */
  async delete(accountId: string, templateId: string): Promise<{ name: string; bytes: number } | undefined> {
    const template = await this.#find(accountId, templateId);
    if (template === undefined) return undefined;
    const deleted = await this.#templates.deleteOne({ _id: templateId });
    const bytes = await this.#bytesOf({ templateId });
    await this.#versions.deleteMany({ templateId });
    const ofDraft = (await this.drafts.delete(accountId, templateId)) ?? 0;
    return deleted ? { name: template.name, bytes: bytes + ofDraft } : undefined;
  }

  /** Bytes of all versions and drafts of an account's templates. */
  async storedBytes(accountId: string): Promise<number> {
    const templates = await this.#templates.find({ accountId }, { projection: { _id: 1 } });
    const versions = await this.#bytesOf({ templateId: { $in: templates.map(({ _id }) => _id) } });
    return versions + (await this.drafts.storedBytes(accountId));
  }

  /** The template with its current version. */
  async current(accountId: string, templateId: string): Promise<SavedTemplate | undefined> {
    for (let tries = 0; tries < READ_TRIES; tries += 1) {
      const template = await this.#find(accountId, templateId);
      if (template === undefined) return undefined;
      const version = await this.#versions.findById(template.currentVersionId);
      if (version !== undefined) return { template, version };
      // More saves came in between than versions are kept, so this version is gone: another one is current by now.
    }
    throw new Error(`Template ${templateId} is saved faster than it can be read.`);
  }

  /** The pinned version, or the current one. @returns undefined unless template and version are the account's. */
  async resolve(
    accountId: string,
    templateId: string,
    versionId?: string,
  ): Promise<TemplateVersion | undefined> {
    if (versionId === undefined) return (await this.current(accountId, templateId))?.version;
    if ((await this.#find(accountId, templateId)) === undefined) return undefined;
    const version = await this.#versions.findById(versionId);
    return version?.templateId === templateId ? version : undefined;
  }

  /** Newest first. Large templates make a page end before its limit, but never before its first template. */
  async list(accountId: string, { limit, offset }: Page): Promise<{ total: number; saved: SavedTemplate[] }> {
    const [total, templates] = await Promise.all([
      this.#templates.count({ accountId }),
      this.#templates.find({ accountId }, { sort: { createdAt: -1, _id: -1 }, skip: offset, limit }),
    ]);
    const page = withinBytes(templates);
    const versions = await this.#versions.find({
      _id: { $in: page.map((template) => template.currentVersionId) },
    });
    const byId = new Map(versions.map((version) => [version._id, version]));
    const saved = page.flatMap((template) => {
      // Missing when the template was deleted since.
      const version = byId.get(template.currentVersionId);
      return version === undefined ? [] : [{ template, version }];
    });
    return { total, saved };
  }

  /** Newest first, without content, sample, schema and options. @param search part of the name, in either case. */
  async summaries(
    accountId: string,
    { limit, offset, search = '' }: Page & { readonly search?: string | undefined },
  ): Promise<{ total: number; templates: Template[] }> {
    const sort = { createdAt: -1, _id: -1 } as const;
    if (search === '') {
      const [total, templates] = await Promise.all([
        this.#templates.count({ accountId }),
        this.#templates.find({ accountId }, { sort, skip: offset, limit }),
      ]);
      return { total, templates };
    }
    // An account has a bounded number of templates (TEMPLATE_BOUNDS), and their records are small.
    const all = await this.#templates.find({ accountId }, { sort });
    const wanted = search.toLowerCase();
    const found = all.filter(({ name }) => name.toLowerCase().includes(wanted));
    return { total: found.length, templates: found.slice(offset, offset + limit) };
  }

  /** Newest first. @returns undefined when the account has no such template. */
  async listVersions(
    accountId: string,
    templateId: string,
    { limit, offset }: Page,
  ): Promise<{ total: number; template: Template; versions: VersionSummary[] } | undefined> {
    const template = await this.#find(accountId, templateId);
    if (template === undefined) return undefined;
    const [total, versions] = await Promise.all([
      this.#versions.count({ templateId }),
      this.#versions.find(
        { templateId },
        {
          sort: { version: -1 },
          skip: offset,
          limit,
          projection: { content: 0, sampleData: 0, dataSchema: 0, options: 0 },
        },
      ),
    ]);
    return { total, template, versions };
  }

  async #find(accountId: string, templateId: string): Promise<Template | undefined> {
    const template = await this.#templates.findById(templateId);
    return template?.accountId === accountId ? template : undefined;
  }

  #latest(templateId: string): Promise<TemplateVersion | undefined> {
    return this.#versions.findOne({ templateId }, { sort: { version: -1 } });
  }

  #newVersion(
    accountId: string,
    templateId: string,
    version: number,
    draft: TemplateDraft,
    { authorId, message }: Signed,
  ): TemplateVersion {
    // Each request is within its plan's limit; several of them together need not be.
    if (sizeOf(draft) > MAX_INPUT_BYTES) {
      throw new PlatenError(
        'INPUT_TOO_LARGE',
        `Content, sample data, schema and options of a template may take ${MAX_INPUT_BYTES} bytes together.`,
      );
    }
    const createdAt = this.#clock.now();
    const size = sizeOf(draft);
    return {
      ...{ _id: randomUUID(), templateId, accountId, version, ...draftOf(draft), size, createdAt },
      ...(authorId !== undefined && { authorId }),
      ...(message !== undefined && { message }),
    };
  }

  /** Makes the version current, unless a later one is. @returns undefined when the template is deleted. */
  async #pointAt(version: TemplateVersion): Promise<Template | undefined> {
    const { templateId, accountId } = version;
    await this.#templates.updateOne(
      { _id: templateId, version: { $lt: version.version } },
      { $set: pointerTo(version) },
    );
    const template = await this.#find(accountId, templateId);
    // Deleted since; the version must not stay.
    if (template === undefined) await this.#versions.deleteOne({ _id: version._id });
    return template;
  }

  /** Leaves no gaps, nor takes the current one. @returns the bytes of the deleted versions. */
  async #deleteOld({ templateId, version }: TemplateVersion, kept: number): Promise<number> {
    const last = version - kept;
    if (last < 1) return 0;
    const old = { templateId, version: { $lte: last } };
    const bytes = await this.#bytesOf(old);
    await this.#versions.deleteMany(old);
    return bytes;
  }

  async #bytesOf(filter: mongo.Filter<TemplateVersion>): Promise<number> {
    const group = { $group: { _id: null, bytes: { $sum: '$size' } } };
    const [sum] = await this.#versions.aggregate<{ bytes: number }>(filter, [group]);
    return sum?.bytes ?? 0;
  }
}

function changedSince({ version }: TemplateVersion): PlatenError {
  return new PlatenError(
    'TEMPLATE_CHANGED',
    `The template has been saved since: it has version ${version} now.`,
  );
}

function pointerTo(version: TemplateVersion) {
  return {
    name: version.name,
    currentVersionId: version._id,
    version: version.version,
    size: sizeOf(version),
    updatedAt: version.createdAt,
  };
}

/** What a version has from its draft. */
export function draftOf({ name, content, sampleData, dataSchema, options }: TemplateDraft): TemplateDraft {
  return {
    name,
    content,
    sampleData,
    ...(typeof dataSchema === 'string' && { dataSchema }),
    ...(options != null && { options }),
  };
}

/** Bytes. */
export function sizeOf({ content, sampleData, dataSchema, options }: Omit<TemplateDraft, 'name'>): number {
  const texts = [content, sampleData, dataSchema ?? '', options == null ? '' : JSON.stringify(options)];
  return texts.reduce((bytes, text) => bytes + Buffer.byteLength(text), 0);
}

function withinBytes(templates: readonly Template[]): Template[] {
  let bytes = 0;
  return templates.filter(({ size }, index) => {
    bytes += size;
    return index === 0 || bytes <= MAX_PAGE_BYTES;
  });
}
