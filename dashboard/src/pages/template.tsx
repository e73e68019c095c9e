import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Eye, FileSpreadsheet, FlaskConical, Save } from 'lucide-react';
import { useState } from 'react';
import { Link, useParams } from 'wouter';
import { ApiError, api, call, type Schemas } from '../api.ts';
import { type Problem, problemsIn } from '../problems.ts';
import { useMayDevelop } from '../session.tsx';
import { Time } from '../ui/bits.tsx';
import { Button } from '../ui/button.tsx';
import { useCtrlKey } from '../ui/ctrl-key.ts';
import { Editor } from '../ui/editor.tsx';
import { TextField } from '../ui/field.tsx';
import { Icon } from '../ui/icon.tsx';
import { LivePreview, useLiveHtml } from '../ui/live-preview.tsx';
import { Card, Loaded, Page } from '../ui/page.tsx';
import { ErrorNote } from '../ui/states.tsx';
import { requireReadable, TemplateData, useTemplateFindings } from '../ui/template-data.tsx';
import { toast } from '../ui/toasts.tsx';
import { SECRET } from './experiment.ts';
import { OptionForm } from './option-form.tsx';
import { DiscardDraft, Overtaken, Publish, Remove } from './template-actions.tsx';
import { type Fields, type Template, type TemplateDraft, useTemplateFields } from './template-fields.ts';
import { TemplateVersions } from './template-versions.tsx';

export default function TemplatePage() {
  const { id } = useParams<{ id: string }>();
  const template = useQuery({
    queryKey: ['template', id],
    queryFn: () => call(api.GET('/user/templates/{id}', pathOf(id))),
  });
  const draft = useQuery({
    queryKey: ['draft', id],
    queryFn: () => call(api.GET('/user/templates/{id}/draft', pathOf(id))),
  });
  return (
    <Loaded title="Template" query={template}>
      {(loaded) => (
        <Loaded title={loaded.name} query={draft}>
          {(found) => <TemplateForm key={id} template={loaded} draft={found.draft} />}
        </Loaded>
      )}
    </Loaded>
  );
}

function TemplateForm({ template, draft }: { template: Template; draft: TemplateDraft | null }) {
  const { id } = template;
  const mayChange = useMayDevelop();
  const edited = useTemplateFields(template, draft);
  const { fields, isChanged, isOutdated, foundAt, change, take, keepMine } = edited;
  const { content, sampleData, dataSchema, options } = fields;
  const { save, publish, discard } = useSaving(template, draft, edited);
  const [search, setSearch] = useState('');
  const text = JSON.stringify([content, sampleData, dataSchema, options]);
  const [last, setLast] = useState<{ jobId: string; rendered: string }>();
  const preview = useMutation({
    mutationFn: (_of: string) =>
      call(api.POST('/user/templates/preview', { body: previewOf(fields, 'pdf') })),
    onSuccess: (accepted, of) =>
      setLast('jobId' in accepted ? { jobId: accepted.jobId, rendered: of } : undefined),
  });
  const show = () => {
    if (mayChange && !preview.isPending) preview.mutate(text);
  };
  const made = useLiveHtml(text, async () => {
    // Others see no preview, which the service makes for those alone who may change the template.
    if (!mayChange) return '';
    await requireReadable(content, sampleData);
    const { locale, timezone, strictData } = options;
    const filling = { ...fields, dataSchema: '', options: { locale, timezone, strictData } };
    const answer = await call(api.POST('/user/templates/preview', { body: previewOf(filling, 'html') }));
    return 'html' in answer ? answer.html : '';
  });
  const found = useTemplateFindings(content, sampleData);
  const store = () => {
    if (mayChange && isChanged && !isOutdated && !save.isPending) save.mutate();
  };
  useCtrlKey('Enter', show);
  useCtrlKey('s', store);
  return (
    <Page
      title={template.name}
      lead={
        <>
          Template, version {template.version} is published
          {draft !== null && (
            <>
              ; draft saved <Time at={draft.updatedAt} />
              {draft.author !== null && (
                <>
                  {' '}
                  by <bdi>{draft.author}</bdi>
                </>
              )}
            </>
          )}
          {isChanged && '; with unsaved changes'}
          {!mayChange && '. Your role sees templates, and does not change them.'}
        </>
      }
      actions={
        mayChange && (
          <>
            <Button icon={Eye} busy={preview.isPending} onClick={show}>
              Preview <kbd>Ctrl Enter</kbd>
            </Button>
            <Button icon={Save} busy={save.isPending} disabled={!isChanged || isOutdated} onClick={store}>
              Save draft <kbd>Ctrl S</kbd>
            </Button>
            <Publish
              version={template.version}
              disabled={(!isChanged && draft === null) || isOutdated}
              publishes={publish}
            />
            {draft !== null && <DiscardDraft discards={() => discard()} />}
            <Link className="button plain" href={`/playground?template=${id}`}>
              <Icon of={FlaskConical} /> Open in playground
            </Link>
            <Link className="button plain" href={`/batches/new?template=${id}`}>
              <Icon of={FileSpreadsheet} /> Batch from a file
            </Link>
          </>
        )
      }
    >
      {foundAt !== undefined && isChanged && !isOutdated && (
        <div className="note" role="status">
          <p>
            You have unsaved changes from <Time at={new Date(foundAt).toISOString()} exact />.
          </p>
          <Button onClick={take}>Discard them</Button>
        </div>
      )}
      {isOutdated && (
        <Overtaken
          {...{ template, draft, fields }}
          onTake={take}
          onKeep={() => keepMine({ template, draft })}
        />
      )}
      {save.error !== null && !isOvertaken(save.error) && <ErrorNote error={save.error} />}
      <div className="split workbench">
        <div className="source">
          <Card>
            <TextField
              label="Name"
              readOnly={!mayChange}
              value={fields.name}
              onChange={(name) => change({ name })}
            />
            <Editor
              readOnly={!mayChange}
              label="HTML in Liquid"
              takesFiles
              language="liquid"
              size="large"
              value={content}
              problems={[...(found?.inContent ?? []), ...refusedIn(made.error)]}
              onChange={(text) => change({ content: text })}
            />
            <Editor
              readOnly={!mayChange}
              label="Sample data"
              hint="JSON that fills in the preview."
              language="json"
              value={sampleData}
              problems={found?.inData}
              onChange={(text) => change({ sampleData: text })}
            />
            <TemplateData found={found} />
            <details open={dataSchema !== ''}>
              <summary>Schema of the data</summary>
              <Editor
                readOnly={!mayChange}
                label="JSON Schema"
                hint="Draft 2020-12. The data of each render must match it. Leave it empty for none."
                language="json"
                value={dataSchema}
                onChange={(text) => change({ dataSchema: text })}
              />
            </details>
          </Card>
        </div>
        <div className="beside outcome">
          {mayChange && (
            <LivePreview
              {...{ text, made, options }}
              jobId={last?.jobId}
              rendered={last?.rendered}
              error={preview.error}
              renders={!preview.isPending}
              onRest={show}
            />
          )}
          <TemplateVersions
            id={id}
            hasChanges={isChanged || draft !== null}
            onRolledBack={(now) => discard(now)}
          />
        </div>
        {mayChange && (
          <div className="more">
            <Card title="Page, header, footer and other options">
              <p className="quiet">
                They are saved with the template and apply to each render of it; a request may replace them.
                Headers and footers are filled in with the same data.
              </p>
              <TextField label="Find an option" type="search" value={search} onChange={setSearch} />
              <OptionForm
                values={options}
                search={search}
                without={SECRET}
                onChange={(next) => change({ options: next })}
              />
            </Card>
            <Card title="Delete this template">
              <p className="quiet">With all its versions. Renders that use it will fail.</p>
              <Remove id={id} name={template.name} />
            </Card>
          </div>
        )}
      </div>
    </Page>
  );
}

/** What is done with the fields of the page. */
function useSaving(
  template: Template,
  draft: TemplateDraft | null,
  { fields, base, isChanged, show }: ReturnType<typeof useTemplateFields>,
) {
  const queries = useQueryClient();
  const path = pathOf(template.id);
  const put = async (): Promise<TemplateDraft> => {
    const { dataSchema, options, ...texts } = fields;
    const body = {
      ...{ ...texts, ...schemaOf(dataSchema), options },
      ...{ baseVersionId: base.versionId, baseDraftId: base.draftId },
    };
    const saved = await call(
      api.PUT('/user/templates/{id}/draft', { ...path, body: body as Schemas['TemplateDraftRequest'] }),
    );
    queries.setQueryData(['draft', template.id], saved);
    show({ template, draft: saved.draft });
    return saved.draft!;
  };
  /** What is there now says the rest. */
  const lookAgain = (error: unknown) => {
    if (!isOvertaken(error)) return;
    for (const what of ['template', 'draft'])
      void queries.invalidateQueries({ queryKey: [what, template.id] });
  };
  const save = useMutation({
    mutationFn: put,
    onSuccess: () => toast('Draft saved. Renders use it once it is published.'),
    onError: lookAgain,
  });
  return {
    save,
    async publish(message: string) {
      try {
        const isThere = !isChanged && draft !== null && draft.baseVersionId === base.versionId;
        const { draftId } = isThere ? draft : await put();
        const body = { draftId, ...(message !== '' && { message }) };
        const now = await call(api.POST('/user/templates/{id}/draft/publish', { ...path, body }));
        queries.setQueryData(['draft', template.id], { draft: null });
        queries.setQueryData(['template', template.id], now);
        show({ template: now, draft: null });
        toast(`Published as version ${now.version}.`);
        void queries.invalidateQueries({ queryKey: ['versions', template.id] });
        void queries.invalidateQueries({ queryKey: ['templates'] });
      } catch (error) {
        lookAgain(error);
        throw error;
      }
    },
    /** @param now the version that is shown then. */
    async discard(now = template) {
      if (draft !== null) await call(api.DELETE('/user/templates/{id}/draft', path));
      queries.setQueryData(['draft', template.id], { draft: null });
      show({ template: now, draft: null });
    },
  };
}

function previewOf(
  { content, sampleData, dataSchema, options }: Fields,
  output: 'html' | 'pdf',
): Schemas['PreviewRequest'] {
  const body = { content, sampleData: sampleData || '{}', ...schemaOf(dataSchema), options, output };
  return body as Schemas['PreviewRequest'];
}

function schemaOf(dataSchema: string) {
  return { dataSchema: dataSchema.trim() === '' ? null : dataSchema };
}

/** The place in the template that the service names; that of a header is not in its content. */
function refusedIn(error: unknown): Problem[] {
  if (!(error instanceof ApiError) || error.code !== 'TEMPLATE_ERROR') return [];
  return error.message.startsWith('options.') ? [] : problemsIn(error.message);
}

function isOvertaken(error: unknown): boolean {
  return error instanceof ApiError && error.code === 'TEMPLATE_CHANGED';
}

function pathOf(id: string) {
  return { params: { path: { id } } };
}
