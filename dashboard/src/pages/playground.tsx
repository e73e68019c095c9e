import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Play } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { useSearchParams } from 'wouter';
import { api, call, type Schemas } from '../api.ts';
import { problemsOf } from '../problems.ts';
import { Time } from '../ui/bits.tsx';
import { Button } from '../ui/button.tsx';
import { ConfirmationNeeded } from '../ui/confirm-address.tsx';
import { useCtrlKey } from '../ui/ctrl-key.ts';
import { Select, TextField } from '../ui/field.tsx';
import { LivePreview, useLiveHtml } from '../ui/live-preview.tsx';
import { Card, Page } from '../ui/page.tsx';
import { useRender, useReport } from '../ui/render-outcome.tsx';
import { RequestTabs } from '../ui/request-tabs.tsx';
import { ErrorNote, Loading } from '../ui/states.tsx';
import { toast } from '../ui/toasts.tsx';
import { useDraft } from '../use-draft.ts';
import {
  type Experiment,
  experimentOf,
  isUntouched,
  newExperiment,
  requestOf,
  withoutSecrets,
} from './experiment.ts';
import { type Linked, linkable } from './experiment-link.ts';
import { OptionForm } from './option-form.tsx';
import { SourceFields } from './source-fields.tsx';
import { useLink, useOpenedLink } from './use-link.ts';

export default function Playground() {
  const [params] = useSearchParams();
  const link = useOpenedLink();
  if (link === 'pending') return <Loading />;
  // Another render, template or link to begin with is another experiment, whose drafts are its own.
  return (
    <Experimenting
      key={`${params} ${JSON.stringify(link)}`}
      render={params.get('render')}
      template={params.get('template')}
      link={link}
    />
  );
}

function Experimenting({
  render,
  template,
  link,
}: {
  render: string | null;
  template: string | null;
  link: Experiment | undefined;
}) {
  const queries = useQueryClient();
  const [found, keep] = useDraft<Experiment>(`playground/${render ?? template ?? ''}`);
  const [setAside, keepAside] = useDraft<readonly Aside[]>('playground-aside');
  const isNew =
    link !== undefined &&
    (found === undefined || JSON.stringify(linkable(found.value)) !== JSON.stringify(link));
  const [asides, setAsides] = useState<readonly Aside[]>(() => [
    ...(isNew && found !== undefined ? [found] : []),
    ...(setAside?.value ?? []),
  ]);
  const begun = isNew ? link : found?.value;
  const [experiment, setExperiment] = useState<Experiment>(begun ?? newExperiment(template));
  const [search, setSearch] = useState('');
  const outcome = useRef<HTMLDivElement>(null);
  const { mode, options, jobId } = experiment;
  const change = (part: Partial<Experiment>) => setExperiment((before) => ({ ...before, ...part }));
  // biome-ignore lint/correctness/useExhaustiveDependencies: whatever is typed
  useEffect(() => keep(isUntouched(experiment) ? undefined : withoutSecrets(experiment)), [experiment]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: whatever is kept
  useEffect(() => keepAside(asides.length === 0 ? undefined : asides.slice(0, MOST_ASIDE)), [asides]);
  const linked = useLink(isUntouched(experiment) ? undefined : experiment);
  const earlier = useEarlier(begun === undefined ? render : null);
  useEffect(() => {
    if (earlier.data !== undefined) setExperiment(earlier.data);
  }, [earlier.data]);
  const body = requestOf(experiment);
  /** Another one for another PDF. */
  const text = JSON.stringify({ ...experiment, jobId: undefined, fileName: undefined });
  const [rendered, setRendered] = useState(jobId === undefined ? undefined : text);
  const run = useMutation({
    mutationFn: (_of: string) =>
      call(api.POST('/user/renders', { body: { ...body, mode } as Schemas['UserRenderRequest'] })),
    onSuccess: (accepted, of) => {
      change({ jobId: accepted.jobId });
      setRendered(of);
    },
  });
  const start = () => {
    if (!run.isPending) run.mutate(text);
  };
  const startAndLook = () => {
    start();
    // On a phone it is below what is typed into.
    outcome.current?.scrollIntoView({ block: 'nearest' });
  };
  const made = useLiveHtml(text, htmlOf(experiment));
  const { data: last } = useRender(jobId);
  const warned = useReport(last).data?.exceptions ?? [];
  useCtrlKey('Enter', startAndLook);
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
          {linked !== undefined && <CopyLink linked={linked} />}
          <Button kind="primary" icon={Play} busy={run.isPending} onClick={startAndLook}>
            Render <kbd>Ctrl Enter</kbd>
          </Button>
        </>
      }
    >
      {mode === 'live' && <ConfirmationNeeded />}
      <SetAside
        asides={asides}
        onTake={(taken) => {
          setAsides(asides.filter((each) => each !== taken));
          setExperiment(taken.value);
        }}
        onForget={() => setAsides([])}
      />
      {earlier.error !== null && <ErrorNote error={earlier.error} retry={earlier.refetch} />}
      <div className="split workbench">
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
            <SourceFields experiment={experiment} problems={problemsOf(warned)} onChange={change} />
          </Card>
        </div>
        <div className="beside outcome" ref={outcome}>
          <LivePreview
            text={text}
            made={made}
            options={options}
            jobId={jobId}
            rendered={rendered}
            error={run.error}
            renders={mode === 'test' && experiment.source !== 'url' && !run.isPending}
            onRest={start}
          />
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

interface Aside {
  /** In milliseconds since the epoch. */
  readonly at: number;
  readonly value: Experiment;
}
/** What was here before a link was opened, and the ones before. */
const MOST_ASIDE = 5;

/** What was typed here before a link was opened: nothing is lost by opening one. */
function SetAside({
  asides,
  onTake,
  onForget,
}: {
  asides: readonly Aside[];
  onTake: (taken: Aside) => void;
  onForget: () => void;
}) {
  if (asides.length === 0) return null;
  return (
    <div className="note" role="status">
      <p>You opened a link. What you had here before is kept:</p>
      <div className="actions">
        {asides.map((each) => (
          <Button key={each.at} onClick={() => onTake(each)}>
            Bring back that of <Time at={new Date(each.at).toISOString()} exact />
          </Button>
        ))}
        <Button onClick={onForget}>Forget it</Button>
      </div>
    </div>
  );
}

function CopyLink({ linked: { fragment, leftOut } }: { linked: Linked }) {
  const copy = async () => {
    if (fragment === undefined)
      return toast('This is too long for a link. It is kept in this browser.', true);
    const without = leftOut.length === 0 ? '' : `, without what is secret: ${leftOut.join(', ')}`;
    try {
      await navigator.clipboard.writeText(window.location.href);
      toast(`The link is copied. It has what you typed${without}.`);
    } catch {
      toast(`Copy the address of this page: it has what you typed${without}.`);
    }
  };
  return <Button onClick={() => void copy()}>Copy link</Button>;
}

/** Makes the HTML of an experiment: that of a template is made by the service. */
function htmlOf({
  source,
  html,
  templateId,
  data,
  options,
}: Experiment): (() => Promise<string>) | undefined {
  if (source === 'html') return async () => html;
  if (source === 'url' || templateId === '') return undefined;
  const { locale, timezone, strictData } = options;
  return async () => {
    const body = { templateId, sampleData: data, options: { locale, timezone, strictData } };
    const preview = await call(
      api.POST('/user/templates/preview', { body: body as Schemas['PreviewRequest'] }),
    );
    return 'html' in preview ? preview.html : '';
  };
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
