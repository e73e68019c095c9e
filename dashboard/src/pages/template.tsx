import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link, useLocation, useParams } from 'wouter';
import { api, call } from '../api.ts';
import { shortId } from '../format.ts';
import { Button } from '../ui/button.tsx';
import { CtrlEnter } from '../ui/ctrl-enter.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Editor } from '../ui/editor.tsx';
import { TextField } from '../ui/field.tsx';
import { Card, Loaded, Page } from '../ui/page.tsx';
import { RenderOutcome } from '../ui/render-outcome.tsx';
import { ErrorNote } from '../ui/states.tsx';
import { toast, toastError } from '../ui/toasts.tsx';
import { TemplateVersions } from './template-versions.tsx';

type Template = Awaited<ReturnType<typeof fetchTemplate>>;

export default function TemplatePage() {
  const { id } = useParams<{ id: string }>();
  const template = useQuery({
    queryKey: ['template', id],
    queryFn: () => fetchTemplate(id),
    refetchOnWindowFocus: false,
  });
  return (
    <Loaded title="Template" query={template}>
      {(loaded) => <TemplateForm key={loaded.versionId} template={loaded} />}
    </Loaded>
  );
}

function TemplateForm({ template }: { template: Template }) {
  const queries = useQueryClient();
  const [name, setName] = useState(template.name);
  const [content, setContent] = useState(template.content);
  const [sampleData, setSampleData] = useState(template.sampleData);
  const saved = template.dataSchema ?? '';
  const [dataSchema, setDataSchema] = useState(saved);
  const isChanged =
    name !== template.name ||
    content !== template.content ||
    sampleData !== template.sampleData ||
    dataSchema !== saved;
  const schema = dataSchema.trim() === '' ? null : dataSchema;
  const save = useMutation({
    mutationFn: () =>
      call(
        api.PATCH('/user/templates/{id}', {
          params: { path: { id: template.id } },
          body: { name, content, sampleData, dataSchema: schema },
        }),
      ),
    onSuccess: (saved) => {
      toast(`Version ${saved.version} is saved.`);
      queries.setQueryData(['template', template.id], saved);
      void queries.invalidateQueries({ queryKey: ['versions', template.id] });
    },
  });
  const preview = useMutation({
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
  return (
    <Page
      title="Template"
      lead={
        <>
          <bdi>{template.name}</bdi>, version {template.version}
        </>
      }
      actions={
        <>
          <Button busy={preview.isPending} onClick={show}>
            PDF <kbd>Ctrl Enter</kbd>
          </Button>
          <Button kind="primary" busy={save.isPending} disabled={!isChanged} onClick={() => save.mutate()}>
            Save
          </Button>
          <Link className="button plain" href={`/playground?template=${template.id}`}>
            In the playground
          </Link>
          <Remove id={template.id} />
        </>
      }
    >
      {save.error !== null && <ErrorNote error={save.error} />}
      <CtrlEnter onPress={show}>
        <div>
          <Card>
            <TextField label="Name" value={name} onChange={setName} />
            <Editor
              label="HTML in Liquid"
              language="liquid"
              size="large"
              value={content}
              onChange={setContent}
            />
            <Editor
              label="Sample data"
              hint="JSON; the preview is filled in with it."
              language="json"
              value={sampleData}
              onChange={setSampleData}
            />
            <details open={saved !== ''}>
              <summary>Schema of the data</summary>
              <Editor
                label="JSON Schema"
                hint="Draft 2020-12; the data of each render must fit it. Empty for none."
                language="json"
                value={dataSchema}
                onChange={setDataSchema}
              />
            </details>
          </Card>
        </div>
        <div>
          <Card title="PDF">
            {preview.error !== null && <ErrorNote error={preview.error} />}
            {preview.data !== undefined && 'jobId' in preview.data ? (
              <RenderOutcome id={preview.data.jobId} />
            ) : (
              <p className="quiet">
                Ctrl Enter prints what stands at the left, saved or not, as a test render.
              </p>
            )}
          </Card>
          <TemplateVersions id={template.id} />
        </div>
      </CtrlEnter>
    </Page>
  );
}

function Remove({ id }: { id: string }) {
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
      <Dialog title="Delete the template?" open={asks} onClose={() => setAsks(false)}>
        <p>Template {shortId(id)} and its versions are gone then, and renders that name it fail.</p>
        <Button kind="danger" busy={remove.isPending} onClick={() => remove.mutate()}>
          Delete it
        </Button>
      </Dialog>
    </>
  );
}

function fetchTemplate(id: string) {
  return call(api.GET('/user/templates/{id}', { params: { path: { id } } }));
}
