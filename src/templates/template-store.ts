import { randomUUID } from 'node:crypto';
import { type Connection, type Model, Schema } from 'mongoose';
import type { Clock } from '../clock.ts';

export interface Template {
  readonly _id: string;
  readonly accountId: string;
  readonly name: string;
  /** The version that renders use unless they pin another. */
  readonly currentVersionId: string;
  /** Its number; the first is 1. */
  readonly version: number;
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
  /** A JSON document as text. */
  readonly sampleData: string;
  readonly createdAt: Date;
}

export interface TemplateDraft {
  readonly name: string;
  readonly content: string;
  readonly sampleData: string;
}

/** Owns the templates and their versions. */
export class TemplateStore {
  readonly #templates: Model<Template>;
  readonly #versions: Model<TemplateVersion>;
  readonly #clock: Clock;

  constructor(connection: Connection, clock: Clock) {
    const options = { versionKey: false, autoIndex: false, autoCreate: false } as const;
    const templates = new Schema(
      {
        _id: String,
        accountId: String,
        name: String,
        currentVersionId: String,
        version: Number,
        createdAt: Date,
        updatedAt: Date,
      },
      { ...options, collection: 'templates' },
    );
    templates.index({ accountId: 1, createdAt: -1 });
    const versions = new Schema(
      {
        _id: String,
        templateId: String,
        accountId: String,
        version: Number,
        name: String,
        content: String,
        sampleData: String,
        createdAt: Date,
      },
      { ...options, collection: 'template_versions' },
    );
    // Two who save at the same time get two numbers: one of them meets this index and counts again.
    versions.index({ templateId: 1, version: 1 }, { unique: true });
    this.#templates = connection.model<Template>('Template', templates as unknown as Schema<Template>);
    this.#versions = connection.model<TemplateVersion>(
      'TemplateVersion',
      versions as unknown as Schema<TemplateVersion>,
    );
    this.#clock = clock;
  }

  /** The version goes first: a template never points at one that is not there. */
  async create(
    accountId: string,
    draft: TemplateDraft,
  ): Promise<{ template: Template; version: TemplateVersion }> {
    const now = this.#clock.now();
    const templateId = randomUUID();
    const version: TemplateVersion = {
      _id: randomUUID(),
      templateId,
      accountId,
      version: 1,
      ...draft,
      createdAt: now,
    };
    const template: Template = {
      _id: templateId,
      accountId,
      name: draft.name,
      currentVersionId: version._id,
      version: 1,
      createdAt: now,
      updatedAt: now,
    };
    await this.#versions.collection.insertOne(version as never);
    await this.#templates.collection.insertOne(template as never);
    return { template, version };
  }

  /**
   * The version to render: the pinned one, or the current one.
   *
   * @returns undefined when the template is missing or another account's, or the version is not one of its own.
   */
  async resolve(
    accountId: string,
    templateId: string,
    versionId?: string,
  ): Promise<TemplateVersion | undefined> {
    const template = (await this.#templates.findById(templateId).lean()) as Template | null;
    if (template === null || template.accountId !== accountId) return undefined;
    const version = (await this.#versions
      .findById(versionId ?? template.currentVersionId)
      .lean()) as TemplateVersion | null;
    return version?.templateId === templateId ? version : undefined;
  }
}
