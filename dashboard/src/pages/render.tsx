import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Ban, Download, Eye, GitCompareArrows, RotateCw } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { Link, useLocation, useParams } from 'wouter';
import { api, call } from '../api.ts';
import { bytes, counted, duration, shortId, titled } from '../format.ts';
import { LIVE } from '../live.ts';
import { type Render, renderQuery } from '../render-query.ts';
import { EditAgain } from '../renders/edit-again.tsx';
import { useMayDevelop } from '../session.tsx';
import { SOURCES } from '../statuses.ts';
import { Badge, Code, Time } from '../ui/bits.tsx';
import { Button } from '../ui/button.tsx';
import { Icon } from '../ui/icon.tsx';
import { Card, Facts, Loaded, Page } from '../ui/page.tsx';
import { Phases } from '../ui/phases.tsx';
import { JobError, PdfFrame, Warnings } from '../ui/render-outcome.tsx';
import { RequestTabs } from '../ui/request-tabs.tsx';
import { ErrorNote } from '../ui/states.tsx';
import { toast, toastError } from '../ui/toasts.tsx';
import { RenderReport } from './render-report.tsx';
import { Share } from './share.tsx';

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
  const { jobId: id, fileName, status, error, attempts, completedAt } = render;
  const hasOutput = status === 'completed' && render.outputAvailable;
  return (
    <Page title={fileName} lead={`Render ${shortId(id)}`} actions={<Actions render={render} />}>
      {error !== null && <JobError error={error} />}
      <div className={hasOutput ? 'split' : 'grid'}>
        {hasOutput && (
          <div className="beside">
            <Output id={id} />
          </div>
        )}
        <Parts inColumn={hasOutput}>
          {hasOutput && render.reportEndpoint !== undefined && (
            <Card title="What the report says">
              <Warnings render={render} />
            </Card>
          )}
          <Card title="Render">
            <FactsOf render={render} />
          </Card>
          <Card title="Where the time went">
            {attempts.length === 0 && (
              <p className="quiet">
                {completedAt === null ? 'It has not started yet.' : 'It never started.'}
              </p>
            )}
            {attempts.map((attempt) => (
              <Attempt key={attempt.number} attempt={attempt} />
            ))}
          </Card>
        </Parts>
      </div>
      {render.reportEndpoint !== undefined && <RenderReport id={id} withWarnings={!hasOutput} />}
      <Input render={render} />
    </Page>
  );
}

/** Cards one below the other, or each in a place of its own. */
function Parts({ inColumn, children }: { inColumn: boolean; children: ReactNode }) {
  return inColumn ? <div>{children}</div> : children;
}

function Actions({ render }: { render: Render }) {
  const { jobId, status, inputAvailable, outputAvailable, retryOf } = render;
  const queries = useQueryClient();
  const mayChange = useMayDevelop();
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
      toast('Rendering it again.');
      navigate(`/renders/${again.jobId}`);
    },
    onError: toastError,
  });
  return (
    <>
      {mayChange && (status === 'queued' || status === 'processing') && (
        <Button kind="danger" icon={Ban} busy={cancel.isPending} onClick={() => cancel.mutate()}>
          Cancel
        </Button>
      )}
      {mayChange && (status === 'failed' || status === 'cancelled') && inputAvailable && (
        <Button kind="primary" icon={RotateCw} busy={retry.isPending} onClick={() => retry.mutate()}>
          Retry
        </Button>
      )}
      <EditAgain render={render} />
      {outputAvailable && (
        <>
          <a className="button plain" href={`/user/renders/${jobId}/file?download=true`} download>
            <Icon of={Download} /> Download
          </a>
          {mayChange && <Share id={jobId} />}
          <Link className="button plain" href={`/compare?a=${retryOf ?? ''}&b=${jobId}`}>
            <Icon of={GitCompareArrows} /> Compare
          </Link>
        </>
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
        ['Source', <Source key="so" render={render} />],
        ['Mode', titled(render.mode)],
        ['Requested by', render.apiKeyPrefix === null ? 'Dashboard' : `${render.apiKeyPrefix}…`],
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
        ['Created', <Time key="m" at={render.createdAt} />],
        ['Ended', <Time key="e" at={render.completedAt} none="Not yet" />],
        ...(render.completedAt === null
          ? []
          : [['Took', duration(Date.parse(render.completedAt) - Date.parse(render.createdAt))] as const]),
        ['Waited', duration(render.queuedMs)],
        ...(render.status === 'queued' && queue.ahead !== null
          ? [['Ahead of it', counted(queue.ahead, 'render')] as const]
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
                'Webhook',
                <Link key="c" href={`/webhooks?jobId=${render.jobId}`}>
                  {callback.status}, {counted(callback.attemptCount, 'attempt')}
                </Link>,
              ] as const,
            ]),
        [
          'Id',
          <code key="j" className="id">
            {render.jobId}
          </code>,
        ],
      ]}
    />
  );
}

/** What it is made from; of a web page also its address, while that is known. */
function Source({ render: { jobId, inputMode, inputAvailable } }: { render: Render }) {
  const input = useQuery({ ...inputQuery(jobId), enabled: inputMode === 'url' && inputAvailable });
  if (input.data?.url === undefined) return SOURCES[inputMode];
  return (
    <a href={input.data.url} rel="noreferrer" target="_blank">
      <bdi>{input.data.url}</bdi>
    </a>
  );
}

function inputQuery(jobId: string) {
  return {
    queryKey: ['input', jobId],
    queryFn: () => call(api.GET('/user/renders/{id}/input', { params: { path: { id: jobId } } })),
  };
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
      <p className="quiet">No PDF to see? Your browser may download PDFs. Use Download above.</p>
    </Card>
  );
}

function Input({ render: { jobId, status, inputAvailable } }: { render: Render }) {
  const [shown, setShown] = useState(false);
  const input = useQuery({ ...inputQuery(jobId), enabled: shown });
  if (!inputAvailable)
    return (
      <Card title="Input">
        <p className="quiet">
          {status === 'completed'
            ? 'The input is deleted once a render has completed.'
            : 'The input is no longer kept.'}
        </p>
      </Card>
    );
  return (
    <Card title="Input">
      {!shown && (
        <Button icon={Eye} onClick={() => setShown(true)}>
          Show
        </Button>
      )}
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
