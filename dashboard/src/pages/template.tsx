import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { Link, useLocation, useParams } from 'wouter';
import { ApiError, api, call } from '../api.ts';
import { Time } from '../ui/bits.tsx';
import { Button } from '../ui/button.tsx';
import { useCtrlKey } from '../ui/ctrl-key.ts';
import { Dialog } from '../ui/dialog.tsx';
import { Editor } from '../ui/editor.tsx';
import { TextField } from '../ui/field.tsx';
import { Card, Loaded, Page } from '../ui/page.tsx';
import { RenderOutcome } from '../ui/render-outcome.tsx';
import { ErrorNote } from '../ui/states.tsx';
import { TemplateData } from '../ui/template-data.tsx';
import { toast, toastError } from '../ui/toasts.tsx';
import { useWhenRests } from '../ui/when-rests.ts';
import { useDraft } from '../use-draft.ts';
import { Compared } from './compared.tsx';
import { TemplateVersions } from './template-versions.tsx';

type Template = Awaited<ReturnType<typeof fetchTemplate>>;

interface Fields {
  readonly name: string;
  readonly content: string;
  readonly sampleData: string;
  /** Empty for none. */
  readonly dataSchema: string;
}

/** What is typed, and the version that it was made from. */
interface Draft {
  readonly fields: Fields;
  readonly base: Pick<Template, 'versionId' | 'version'>;
}

export default function TemplatePage() {
  const { id } = useParams<{ id: string }>();
  const template = useQuery({ queryKey: ['template', id], queryFn: () => fetchTemplate(id) });
  return (
    <Loaded title="Template" query={template}>
      {(loaded) => <TemplateForm key={id} template={loaded} />}
    </Loaded>
  );
}

function TemplateForm({ template }: { template: Template }) {
  const queries = useQueryClient();
  const { fields, base, isChanged, foundAt, change, take, keepMine } = useFields(template);
  const { content, sampleData, dataSchema } = fields;
  const schema = dataSchema.trim() === '' ? null : dataSchema;
  const save = useMutation({
    mutationFn: () =>
      call(
        api.PATCH('/user/templates/{id}', {
          params: { path: { id: template.id } },
          body: { ...fields, dataSchema: schema, baseVersionId: base.versionId },
        }),
      ),
    onSuccess: (saved) => {
      toast(`Saved as version ${saved.version}.`);
      queries.setQueryData(['template', template.id], saved);
      keepMine(saved);
      void queries.invalidateQueries({ queryKey: ['versions', template.id] });
      void queries.invalidateQueries({ queryKey: ['templates'] });
    },
    onError: (error) => {
      // What is there now says the rest.
      if (isOvertaken(error)) void queries.invalidateQueries({ queryKey: ['template', template.id] });
    },
  });
  const [jobId, setJobId] = useState<string>();
  const preview = useMutation({
    onSuccess: (made) => setJobId('jobId' in made ? made.jobId : undefined),
    mutationFn: () =>
      call(
        api.POST('/user/templates/preview', {
          body: {
            content,
            sampleData: sampleData || '{}',
            dataSchema: schema,
            options: template.options ?? {},
            output: 'pdf',
          },
        }),
      ),
  });
  const show = () => {
    if (!preview.isPending) preview.mutate();
  };
  const [isLive, setLive] = useState(false);
  useWhenRests(isLive && !preview.isPending, `${content}\0${sampleData}\0${dataSchema}`, show);
  const isOutdated = isChanged && base.versionId !== template.versionId;
  const store = () => {
    if (isChanged && !isOutdated && !save.isPending) save.mutate();
  };
  useCtrlKey('Enter', show);
  useCtrlKey('s', store);
  return (
    <Page
      title={template.name}
      lead={
        <>
          Template, version {template.version}
          {isChanged && ', with unsaved changes'}
        </>
      }
      actions={
        <>
          <Button busy={preview.isPending} onClick={show}>
            Preview <kbd>Ctrl Enter</kbd>
          </Button>
          <Button kind="primary" busy={save.isPending} disabled={!isChanged || isOutdated} onClick={store}>
            Save <kbd>Ctrl S</kbd>
          </Button>
          <Link className="button plain" href={`/playground?template=${template.id}`}>
            Open in playground
          </Link>
          <Link className="button plain" href={`/batches/new?template=${template.id}`}>
            Batch from a file
          </Link>
          <Remove id={template.id} name={template.name} />
        </>
      }
    >
      {foundAt !== undefined && isChanged && !isOutdated && (
        <div className="note" role="status">
          <p>
            You have unsaved changes from <Time at={new Date(foundAt).toISOString()} exact />.
          </p>
          <Button onClick={() => take(template)}>Discard them</Button>
        </div>
      )}
      {isOutdated && (
        <Overtaken template={template} base={base} fields={fields} onTake={take} onKeep={keepMine} />
      )}
      {save.error !== null && !isOvertaken(save.error) && <ErrorNote error={save.error} />}
      <div className="split">
        <div>
          <Card>
            <TextField label="Name" value={fields.name} onChange={(name) => change({ name })} />
            <Editor
              label="HTML in Liquid"
              language="liquid"
              size="large"
              value={content}
              onChange={(text) => change({ content: text })}
            />
            <Editor
              label="Sample data"
              hint="JSON that fills in the preview."
              language="json"
              value={sampleData}
              onChange={(text) => change({ sampleData: text })}
            />
            <TemplateData content={content} data={sampleData} />
            <details open={dataSchema !== ''}>
              <summary>Schema of the data</summary>
              <Editor
                label="JSON Schema"
                hint="Draft 2020-12. The data of each render must match it. Leave it empty for none."
                language="json"
                value={dataSchema}
                onChange={(text) => change({ dataSchema: text })}
              />
            </details>
          </Card>
        </div>
        <div className="beside">
          <Card
            title="PDF"
            actions={
              <label className="check">
                <input type="checkbox" checked={isLive} onChange={(event) => setLive(event.target.checked)} />
                Update as I type
              </label>
            }
          >
            {preview.error !== null && <ErrorNote error={preview.error} />}
            {jobId !== undefined ? (
              <RenderOutcome id={jobId} keepsLast={isLive} />
            ) : (
              <p className="quiet">
                Press Ctrl Enter to preview the template with its sample data, saved or not.
              </p>
            )}
          </Card>
          <TemplateVersions id={template.id} hasChanges={isChanged} onRolledBack={take} />
        </div>
      </div>
    </Page>
  );
}

/** The fields as they are typed, which are kept as a draft while they differ from what is saved. */
function useFields(template: Template) {
  const saved = fieldsOf(template);
  const [found, keep] = useDraft<Draft>(`template/${template.id}`);
  const [draft, setDraft] = useState<Draft>(found?.value ?? { fields: saved, base: template });
  const [foundAt, setFoundAt] = useState(found?.at);
  /** What the version had that the changes are made to; unknown of one that another tab has begun to change. */
  const [original, setOriginal] = useState(found === undefined ? saved : undefined);
  const { fields, base } = draft;
  const isChanged = !areAlike(fields, saved);
  const take = (version: Template) => {
    setDraft({ fields: fieldsOf(version), base: version });
    setOriginal(fieldsOf(version));
    setFoundAt(undefined);
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: whatever is typed
  useEffect(
    () =>
      keep(isChanged ? { fields, base: { versionId: base.versionId, version: base.version } } : undefined),
    [draft, isChanged],
  );
  // Where nothing is typed, the page shows what is saved, whoever has saved it.
  // biome-ignore lint/correctness/useExhaustiveDependencies: another version
  useEffect(() => {
    if (base.versionId === template.versionId) return;
    if (!isChanged || (original !== undefined && areAlike(fields, original))) take(template);
  }, [template.versionId]);
  return {
    fields,
    base,
    isChanged,
    foundAt,
    change: (part: Partial<Fields>) => setDraft({ base, fields: { ...fields, ...part } }),
    /** Shows a version in place of what was typed. */
    take,
    /** What is typed is a change to this version from now on. */
    keepMine: (version: Template) => {
      setDraft((now) => ({ ...now, base: version }));
      setOriginal(fieldsOf(version));
      setFoundAt(undefined);
    },
  };
}

function areAlike(some: Fields, others: Fields): boolean {
  return (Object.keys(some) as (keyof Fields)[]).every((name) => some[name] === others[name]);
}

/** Another tab or person has saved the template since this page began to change it. */
function Overtaken({
  template,
  base,
  fields,
  onTake,
  onKeep,
}: {
  template: Template;
  base: Draft['base'];
  fields: Fields;
  onTake: (version: Template) => void;
  onKeep: (version: Template) => void;
}) {
  const [compares, setCompares] = useState(false);
  return (
    <div className="note error" role="alert">
      <p>
        Version {template.version} was saved elsewhere after you started from version {base.version}. Your
        changes are here, and are not saved.
      </p>
      <div className="actions">
        <Button onClick={() => setCompares(true)}>Compare</Button>
        <Button onClick={() => onKeep(template)}>Keep mine</Button>
        <Button onClick={() => onTake(template)}>Discard mine and load version {template.version}</Button>
      </div>
      <Dialog title="Your changes and the saved version" open={compares} onClose={() => setCompares(false)}>
        <Compared
          texts={[
            ['Yours', fields.content],
            [`Version ${template.version}, saved`, template.content],
          ]}
        />
      </Dialog>
    </div>
  );
}

function Remove({ id, name }: { id: string; name: string }) {
  const [, navigate] = useLocation();
  const queries = useQueryClient();
  const [asks, setAsks] = useState(false);
  const remove = useMutation({
    mutationFn: () => call(api.DELETE('/user/templates/{id}', { params: { path: { id } } })),
    onSuccess: () => {
      void queries.invalidateQueries({ queryKey: ['templates'] });
      navigate('/templates');
    },
    onError: toastError,
  });
  return (
    <>
      <Button kind="danger" onClick={() => setAsks(true)}>
        Delete
      </Button>
      <Dialog title="Delete this template?" open={asks} onClose={() => setAsks(false)}>
        <p>
          <bdi>{name}</bdi> and all its versions will be deleted, and renders that use it will fail. This
          cannot be undone.
        </p>
        <Button kind="danger" busy={remove.isPending} onClick={() => remove.mutate()}>
          Delete template
        </Button>
      </Dialog>
    </>
  );
}

function isOvertaken(error: unknown): boolean {
  return error instanceof ApiError && error.code === 'TEMPLATE_CHANGED';
}

function fieldsOf({ name, content, sampleData, dataSchema = '' }: Template): Fields {
  return { name, content, sampleData, dataSchema };
}

function fetchTemplate(id: string) {
  return call(api.GET('/user/templates/{id}', { params: { path: { id } } }));
}
