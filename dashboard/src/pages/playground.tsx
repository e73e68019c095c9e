import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { useSearchParams } from 'wouter';
import { api, call, type Schemas } from '../api.ts';
import { Button } from '../ui/button.tsx';
import { ConfirmationNeeded } from '../ui/confirm-address.tsx';
import { useCtrlKey } from '../ui/ctrl-key.ts';
import { Select, TextField } from '../ui/field.tsx';
import { Card, Page } from '../ui/page.tsx';
import { RenderOutcome } from '../ui/render-outcome.tsx';
import { RequestTabs } from '../ui/request-tabs.tsx';
import { ErrorNote } from '../ui/states.tsx';
import { useDraft } from '../use-draft.ts';
import {
  type Experiment,
  experimentOf,
  isUntouched,
  newExperiment,
  requestOf,
  withoutSecrets,
} from './experiment.ts';
import { OptionForm } from './option-form.tsx';
import { SourceFields } from './source-fields.tsx';

export default function Playground() {
  const [params] = useSearchParams();
  // Another render or template to begin with is another experiment, whose drafts are its own.
  return (
    <Experimenting key={params.toString()} render={params.get('render')} template={params.get('template')} />
  );
}

function Experimenting({ render, template }: { render: string | null; template: string | null }) {
  const queries = useQueryClient();
  const [found, keep] = useDraft<Experiment>(`playground/${render ?? template ?? ''}`);
  const [experiment, setExperiment] = useState<Experiment>(found?.value ?? newExperiment(template));
  const [search, setSearch] = useState('');
  const outcome = useRef<HTMLDivElement>(null);
  const { mode, options, jobId } = experiment;
  const change = (part: Partial<Experiment>) => setExperiment((before) => ({ ...before, ...part }));
  // biome-ignore lint/correctness/useExhaustiveDependencies: whatever is typed
  useEffect(() => keep(isUntouched(experiment) ? undefined : withoutSecrets(experiment)), [experiment]);
  const earlier = useEarlier(found === undefined ? render : null);
  useEffect(() => {
    if (earlier.data !== undefined) setExperiment(earlier.data);
  }, [earlier.data]);
  const body = requestOf(experiment);
  const run = useMutation({
    mutationFn: () =>
      call(api.POST('/user/renders', { body: { ...body, mode } as Schemas['UserRenderRequest'] })),
    onMutate: () => change({ jobId: undefined }),
    onSuccess: (accepted) => change({ jobId: accepted.jobId }),
    // On a phone it is below what is typed into.
    onSettled: () => outcome.current?.scrollIntoView({ block: 'nearest' }),
  });
  const start = () => {
    if (!run.isPending) run.mutate();
  };
  useCtrlKey('Enter', start);
  return (
    <Page
      title="Playground"
      lead="Try a document. Test renders carry a TEST watermark and do not count against your quota."
      actions={
        <>
          {!isUntouched(experiment) && (
            <Button
              onClick={() => {
                run.reset();
                void queries.invalidateQueries({ queryKey: ['input'] });
                setExperiment(newExperiment(template));
              }}
            >
              Start over
            </Button>
          )}
          <Button kind="primary" busy={run.isPending} onClick={start}>
            Render <kbd>Ctrl Enter</kbd>
          </Button>
        </>
      }
    >
      {mode === 'live' && <ConfirmationNeeded />}
      {earlier.error !== null && <ErrorNote error={earlier.error} retry={earlier.refetch} />}
      <div className="split playground">
        <div className="source">
          <Card>
            <div className="filters">
              <Select
                label="Source"
                value={experiment.source}
                options={[
                  ['html', 'HTML'],
                  ['url', 'Web page'],
                  ['templateId', 'Template'],
                ]}
                onChange={(value) => change({ source: value || 'html' })}
              />
              <Select
                label="Mode"
                value={mode}
                options={[
                  ['test', 'Test'],
                  ['live', 'Live (uses your quota)'],
                ]}
                onChange={(value) => change({ mode: value || 'test' })}
              />
              <TextField
                label="File name"
                placeholder="document.pdf"
                value={experiment.fileName}
                onChange={(fileName) => change({ fileName })}
              />
            </div>
            <SourceFields experiment={experiment} onChange={change} />
          </Card>
        </div>
        <div className="beside outcome" ref={outcome}>
          <Card title="PDF">
            {run.error !== null && <ErrorNote error={run.error} />}
            {jobId === undefined ? (
              <p className="quiet">
                {run.isPending ? 'Rendering …' : 'Press Ctrl Enter to see the PDF here.'}
              </p>
            ) : (
              <RenderOutcome id={jobId} />
            )}
          </Card>
          <Card title="The same request in your code">
            <RequestTabs body={body} />
          </Card>
        </div>
        <div className="more">
          <Card title="Options">
            <TextField label="Find an option" type="search" value={search} onChange={setSearch} />
            <OptionForm values={options} search={search} onChange={(next) => change({ options: next })} />
          </Card>
        </div>
      </div>
    </Page>
  );
}

/** What a render was asked for, to be changed and asked for again. */
function useEarlier(id: string | null) {
  return useQuery({
    queryKey: ['input', id, 'experiment'],
    queryFn: async () => {
      const path = { params: { path: { id: id ?? '' } } };
      const [input, render] = await Promise.all([
        call(api.GET('/user/renders/{id}/input', path)),
        call(api.GET('/user/renders/{id}', path)),
      ]);
      return experimentOf(input, render);
    },
    enabled: id !== null,
    staleTime: Number.POSITIVE_INFINITY,
  });
}
