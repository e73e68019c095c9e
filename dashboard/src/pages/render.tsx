import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link, useLocation, useParams } from 'wouter';
import { api, call } from '../api.ts';
import { bytes, counted, duration, number, shortId } from '../format.ts';
import { LIVE } from '../live.ts';
import { type Render, renderQuery } from '../render-query.ts';
import { Badge, Code, Time } from '../ui/bits.tsx';
import { Button } from '../ui/button.tsx';
import { Card, Facts, Loaded, Page } from '../ui/page.tsx';
import { Phases } from '../ui/phases.tsx';
import { JobError, PdfFrame } from '../ui/render-outcome.tsx';
import { RequestTabs } from '../ui/request-tabs.tsx';
import { ErrorNote } from '../ui/states.tsx';
import { toast, toastError } from '../ui/toasts.tsx';
import { RenderReport } from './render-report.tsx';

export default function RenderPage() {
  const { id } = useParams<{ id: string }>();
  const render = useQuery(renderQuery(id));
  return (
    <Loaded title="Render" query={render}>
      {(loaded) => <Details render={loaded} />}
    </Loaded>
  );
}

function Details({ render }: { render: Render }) {
  const { jobId: id, fileName, status, error, attempts } = render;
  return (
    <Page title={`Render ${shortId(id)}`} lead={<bdi>{fileName}</bdi>} actions={<Actions render={render} />}>
      {error !== null && <JobError error={error} />}
      <div className="grid">
        <Card title="Render">
          <FactsOf render={render} />
        </Card>
        <Card title="Where the time went">
          {attempts.length === 0 && <p className="quiet">It has not begun.</p>}
          {attempts.map((attempt) => (
            <Attempt key={attempt.number} attempt={attempt} />
          ))}
        </Card>
      </div>
      {render.reportEndpoint !== undefined && <RenderReport id={id} />}
      {status === 'completed' && render.outputAvailable && <Output id={id} />}
      <Input render={render} />
    </Page>
  );
}

function Actions({ render: { jobId, status, inputAvailable, outputAvailable } }: { render: Render }) {
  const queries = useQueryClient();
  const [, navigate] = useLocation();
  const path = { params: { path: { id: jobId } } };
  const cancel = useMutation({
    mutationFn: () => call(api.DELETE('/user/renders/{id}', path)),
    onSuccess: () => queries.invalidateQueries({ queryKey: [LIVE] }),
    onError: toastError,
  });
  const retry = useMutation({
    mutationFn: () => call(api.POST('/user/renders/{id}/retry', path)),
    onSuccess: (again) => {
      toast('It is rendered again.');
      navigate(`/renders/${again.jobId}`);
    },
    onError: toastError,
  });
  return (
    <>
      {(status === 'queued' || status === 'processing') && (
        <Button kind="danger" busy={cancel.isPending} onClick={() => cancel.mutate()}>
          Cancel
        </Button>
      )}
      {(status === 'failed' || status === 'cancelled') && inputAvailable && (
        <Button kind="primary" busy={retry.isPending} onClick={() => retry.mutate()}>
          Retry
        </Button>
      )}
      {inputAvailable && (
        <Link className="button plain" href={`/playground?render=${jobId}`}>
          Edit and run again
        </Link>
      )}
      {outputAvailable && (
        <a className="button plain" href={`/user/renders/${jobId}/file?download=true`} download>
          Download
        </a>
      )}
    </>
  );
}

function FactsOf({ render }: { render: Render }) {
  const { callback, queue, retryOf, templateId } = render;
  return (
    <Facts
      facts={[
        ['Status', <Badge key="s" status={render.status} />],
        ['Job', <code key="j">{render.jobId}</code>],
        ['Input', `${render.inputMode}, ${render.mode}`],
        ['Key', render.apiKeyPrefix === null ? 'the dashboard' : `${render.apiKeyPrefix}…`],
        ...(templateId === null
          ? []
          : [
              [
                'Template',
                <Link key="t" href={`/templates/${templateId}`}>
                  {shortId(templateId)}
                </Link>,
              ] as const,
            ]),
        ['Made', <Time key="m" at={render.createdAt} />],
        ['Ended', <Time key="e" at={render.completedAt} />],
        ['Waited', duration(render.queuedMs)],
        ...(render.status === 'queued' && queue.ahead !== null
          ? [['Before it', `${number(queue.ahead)} renders of this account`] as const]
          : []),
        ...(render.pages > 0
          ? [['PDF', `${counted(render.pages, 'page')}, ${bytes(render.pdfSize)}`] as const]
          : []),
        ...(render.outputExpiresAt === null
          ? []
          : [['Kept until', <Time key="k" at={render.outputExpiresAt} />] as const]),
        ...(retryOf === null
          ? []
          : [
              [
                'Retry of',
                <Link key="r" href={`/renders/${retryOf}`}>
                  {shortId(retryOf)}
                </Link>,
              ] as const,
            ]),
        ...(callback === null
          ? []
          : [
              [
                'Callback',
                <Link key="c" href={`/webhooks?jobId=${render.jobId}`}>
                  {callback.status}, {counted(callback.attemptCount, 'attempt')}
                </Link>,
              ] as const,
            ]),
      ]}
    />
  );
}

function Attempt({ attempt }: { attempt: Render['attempts'][number] }) {
  const { phases, error } = attempt;
  return (
    <div className="attempt">
      <h3>
        Attempt {attempt.number} <Badge status={attempt.outcome} />
      </h3>
      {error !== null && (
        <p>
          {error.code}: <bdi>{error.message}</bdi>
        </p>
      )}
      {phases !== null && <Phases phases={phases} />}
    </div>
  );
}

function Output({ id }: { id: string }) {
  return (
    <Card title="PDF">
      <PdfFrame id={id} />
      <p className="quiet">Some browsers download it in place of showing it.</p>
    </Card>
  );
}

function Input({ render: { jobId, inputAvailable } }: { render: Render }) {
  const [shown, setShown] = useState(false);
  const input = useQuery({
    queryKey: ['input', jobId],
    queryFn: () => call(api.GET('/user/renders/{id}/input', { params: { path: { id: jobId } } })),
    enabled: shown,
  });
  if (!inputAvailable)
    return (
      <Card title="Input">
        <p className="quiet">What is rendered is kept until it has succeeded, and not after that.</p>
      </Card>
    );
  return (
    <Card title="Input">
      {!shown && <Button onClick={() => setShown(true)}>Show</Button>}
      {input.error !== null && <ErrorNote error={input.error} retry={input.refetch} />}
      {input.data !== undefined && (
        <>
          <Code label="Input and options" text={JSON.stringify(input.data, null, 2)} />
          <RequestTabs body={input.data as Record<string, unknown>} />
        </>
      )}
    </Card>
  );
}
