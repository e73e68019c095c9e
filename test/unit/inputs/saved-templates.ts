import type { TemplateVersion } from '../../../src/tenants/templates/template-store.ts';

/** A template store, by the content of a template's version: undefined for one that the account does not have. */
export function savedTemplates(contentOf: (id: string, versionId: string) => string | undefined) {
  const lookUps: string[] = [];
  const templates = {
    async resolve(
      accountId: string,
      templateId: string,
      _id = 'current',
    ): Promise<TemplateVersion | undefined> {
      lookUps.push(`${accountId} ${templateId} ${_id}`);
      const content = contentOf(templateId, _id);
      if (content === undefined) return undefined;
      const others = { version: 1, name: 'saved', sampleData: '{}', size: 2, createdAt: new Date(0) };
      return { _id, templateId, accountId, content, ...others };
    },
  };
  /** Of templates without a schema, which are all of these. */
  const templateEditor = {
    async dataErrors(): Promise<string[]> {
      throw new Error('These templates have no schema.');
    },
  };
  return { lookUps, templates, templateEditor };
}
