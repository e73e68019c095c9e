import { useEffect, useState } from 'react';
import type { Schemas } from '../api.ts';
import { useDraft } from '../use-draft.ts';

export type Template = Schemas['Template'];
/** What is kept at the service beside the versions, for all who work on the template. */
export type TemplateDraft = NonNullable<Schemas['TemplateDraftResponse']['draft']>;

export interface Fields {
  readonly name: string;
  readonly content: string;
  readonly sampleData: string;
  /** Empty for none. */
  readonly dataSchema: string;
  readonly options: Readonly<Record<string, unknown>>;
}

/** What fields were made from. */
interface Base {
  readonly versionId: string;
  /** Null for a version without a draft. */
  readonly draftId: string | null;
}

interface Typed {
  readonly fields: Fields;
  readonly base: Base;
}

/** The fields of a template as they are typed, which the browser keeps while they differ from what the service has. */
export function useTemplateFields(template: Template, draft: TemplateDraft | null) {
  const saved = fieldsOf(draft ?? template);
  const present = baseOf(template, draft);
  const [found, keep] = useDraft<Typed>(`template/${template.id}`);
  const [{ fields, base }, setTyped] = useState<Typed>(
    withOptions(found?.value) ?? { fields: saved, base: present },
  );
  const [foundAt, setFoundAt] = useState(found?.at);
  /** What the base had; unknown of one that another tab has begun to change. */
  const [original, setOriginal] = useState(found === undefined ? saved : undefined);
  const isChanged = !areAlike(fields, saved);
  const set = (next: Fields, on: Base, had: Fields) => {
    setTyped({ fields: next, base: on });
    setOriginal(had);
    setFoundAt(undefined);
  };
  const take = () => set(saved, present, saved);
  // biome-ignore lint/correctness/useExhaustiveDependencies: whatever is typed
  useEffect(() => keep(isChanged ? { fields, base } : undefined), [fields, base, isChanged]);
  // Where nothing is typed, the page shows what is saved, whoever has saved it.
  // biome-ignore lint/correctness/useExhaustiveDependencies: another version or draft
  useEffect(() => {
    if (base.versionId === present.versionId && base.draftId === present.draftId) return;
    if (!isChanged || (original !== undefined && areAlike(fields, original))) take();
  }, [present.versionId, present.draftId]);
  return {
    fields,
    base,
    isChanged,
    foundAt,
    /** Whether somebody else has saved a draft or a version since. */
    isOutdated: base.versionId !== template.versionId || base.draftId !== (draft?.draftId ?? null),
    change: (part: Partial<Fields>) => setTyped({ base, fields: { ...fields, ...part } }),
    /** Shows what the service has in place of what was typed. */
    take,
    /** What is typed is a change to what the service has, from now on. */
    keepMine: (now: { template: Template; draft: TemplateDraft | null }) =>
      set(
        fields,
        { versionId: now.template.versionId, draftId: now.draft?.draftId ?? null },
        fieldsOf(now.draft ?? now.template),
      ),
    /** Shows a version or a draft that has just been saved. */
    show: (now: { template: Template; draft: TemplateDraft | null }) => {
      const next = fieldsOf(now.draft ?? now.template);
      set(next, baseOf(now.template, now.draft), next);
    },
  };
}

function baseOf({ versionId }: Template, draft: TemplateDraft | null): Base {
  return { versionId: draft?.baseVersionId ?? versionId, draftId: draft?.draftId ?? null };
}

function fieldsOf({ name, content, sampleData, dataSchema, options }: Template | TemplateDraft): Fields {
  return { name, content, sampleData, dataSchema: dataSchema ?? '', options: options ?? {} };
}

/** One that an earlier version of this page has kept had none. */
function withOptions(typed: Typed | undefined): Typed | undefined {
  return typed && { ...typed, fields: { ...typed.fields, options: typed.fields.options ?? {} } };
}

function areAlike(some: Fields, others: Fields): boolean {
  return (Object.keys(others) as (keyof Fields)[]).every(
    (name) => sorted(some[name]) === sorted(others[name]),
  );
}

/** As text, whatever order the names of objects have. */
function sorted(value: Fields[keyof Fields]): string {
  return JSON.stringify(value, (_, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}
