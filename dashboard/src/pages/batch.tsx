import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Ban, Download, FileJson, RotateCw } from 'lucide-react';
import { Link, useLocation, useParams } from 'wouter';
import { api, call } from '../api.ts';
import { oneOf, pageOf, useFilters } from '../filters.ts';
import { bytes, counted, firstLine, number, shortId } from '../format.ts';
import { LIVE } from '../live.ts';
import { useMayDevelop } from '../session.tsx';
import { BatchProgress } from '../ui/batch-progress.tsx';
import { Badge, BatchBadge, Time } from '../ui/bits.tsx';
import { Button } from '../ui/button.tsx';
import { Select } from '../ui/field.tsx';
import { Icon } from '../ui/icon.tsx';
import { Card, Facts, Loaded, Page } from '../ui/page.tsx';
import { Listing } from '../ui/table.tsx';
import { toast, toastError } from '../ui/toasts.tsx';

type Batch = Awaited<ReturnType<typeof fetchBatch>>;

const STATUSES = ['failed', 'queued', 'processing', 'completed'] as const;

export default function BatchPage() {
  const { id } = useParams<{ id: string }>();
  const batch = useQuery({ queryKey: [LIVE, 'batch', id], queryFn: () => fetchBatch(id) });
  return (
    <Loaded title="Batch" query={batch}>
      {(loaded) => <Details batch={loaded} />}
    </Loaded>
  );
}

function Details({ batch }: { batch: Batch }) {
  const { jobId: id, progress, status } = batch;
  return (
    <Page
      title={batch.job.notes === '' ? `Batch ${shortId(id)}` : firstLine(batch.job.notes)}
      lead={`Batch ${shortId(id)}`}
      actions={<Actions batch={batch} />}
    >
      <Card title="Progress">
        <BatchProgress progress={progress} wide />
        <SourceNote source={batch.source} />
        <Facts
          facts={[
            ['Status', <BatchBadge key="s" status={status} failed={progress.failed} />],
            ['Documents', number(progress.total)],
            ['Completed', number(progress.completed)],
            ['Failed', number(progress.failed)],
            ['Remaining', number(progress.pending)],
            ['Created', <Time key="m" at={batch.createdAt} />],
            ['Ended', <Time key="e" at={batch.finishedAt} none="Not yet" />],
            ...(batch.job.notes === firstLine(batch.job.notes)
              ? []
              : [['Notes', <bdi key="n">{batch.job.notes}</bdi>] as const]),
            ...Object.entries(batch.job.metadata).map(
              ([name, value]) => [name, <bdi key={name}>{value}</bdi>] as const,
            ),
            ['Kept until', <Time key="k" at={batch.expiresAt} />],
            ...(batch.webhookUrl === null
              ? []
              : [
                  [
                    'Webhook',
                    <Link key="c" href={`/webhooks?jobId=${id}`}>
                      Deliveries
                    </Link>,
                  ] as const,
                ]),
          ]}
        />
      </Card>
      <Items id={id} hasFailed={progress.failed > 0} />
    </Page>
  );
}

/** What the rows of a file wait for, or why they are not all rendered. */
function SourceNote({ source }: Pick<Batch, 'source'>) {
  if (source === undefined) return null;
  const { state, rows, rowsRead, deadline, waitsFor, error } = source;
  const of = rows === null ? '' : ` of ${counted(rows, 'row')}`;
  const until = (
    <>
      {' '}
      Rows that are not rendered by <Time at={deadline} /> are not rendered at all.
    </>
  );
  if (error !== null) return <p className="note error">{`${error.code}: ${error.message}`}</p>;
  if (state === 'counting') return <p className="quiet">The rows of the file are being counted.</p>;
  if (state === 'awaiting_release')
    return (
      <p className="note">
        This is a proof of {number(rowsRead)}
        {of}. Look at the documents below, then release the batch or cancel it.{until}
      </p>
    );
  if (state === 'paused')
    return (
      <p className="note">
        Paused after {number(rowsRead)}
        {of}.{until}
      </p>
    );
  if (waitsFor !== null) return <p className="note">{`${waitsFor.message} The batch goes on by itself.`}</p>;
  return null;
}

/** What the owner may decide about the rows that are not read yet. */
function SourceActions({ batch: { jobId, source } }: { batch: Batch }) {
  const queries = useQueryClient();
  const path = { params: { path: { id: jobId } } };
  const after = { onSuccess: () => queries.invalidateQueries({ queryKey: [LIVE] }), onError: toastError };
  const release = useMutation({
    mutationFn: () => call(api.POST('/user/batches/{id}/release', path)),
    ...after,
  });
  const pause = useMutation({ mutationFn: () => call(api.POST('/user/batches/{id}/pause', path)), ...after });
  const resume = useMutation({
    mutationFn: () => call(api.POST('/user/batches/{id}/resume', path)),
    ...after,
  });
  switch (source?.state) {
    case 'awaiting_release':
      return (
        <Button kind="primary" busy={release.isPending} onClick={() => release.mutate()}>
          Release
        </Button>
      );
    case 'paused':
      return (
        <Button kind="primary" busy={resume.isPending} onClick={() => resume.mutate()}>
          Resume
        </Button>
      );
    case 'reading':
    case 'waiting':
      return (
        <Button busy={pause.isPending} onClick={() => pause.mutate()}>
          Pause
        </Button>
      );
    default:
      return null;
  }
}

function Actions({ batch }: { batch: Batch }) {
  const { jobId, status, progress } = batch;
  const queries = useQueryClient();
  const [, navigate] = useLocation();
  const path = { params: { path: { id: jobId } } };
  const cancel = useMutation({
    mutationFn: () => call(api.DELETE('/user/batches/{id}', path)),
    onSuccess: () => queries.invalidateQueries({ queryKey: [LIVE] }),
    onError: toastError,
  });
  const retry = useMutation({
    mutationFn: () => call(api.POST('/user/batches/{id}/retry-failed', path)),
    onSuccess: (again) => {
      toast(`Rendering ${counted(again.itemCount, 'document')} again.`);
      navigate(`/batches/${again.jobId}`);
    },
    onError: toastError,
  });
  const mayChange = useMayDevelop();
  const isOpen = status === 'queued' || status === 'processing';
  return (
    <>
      {mayChange && isOpen && <SourceActions batch={batch} />}
      {mayChange && isOpen && (
        <Button kind="danger" icon={Ban} busy={cancel.isPending} onClick={() => cancel.mutate()}>
          Cancel
        </Button>
      )}
      {mayChange && !isOpen && progress.failed > 0 && (
        <Button kind="primary" icon={RotateCw} busy={retry.isPending} onClick={() => retry.mutate()}>
          Retry failed
        </Button>
      )}
      {progress.completed > 0 && (
        <a className="button plain" href={`/user/batches/${jobId}/zip`} download>
          <Icon of={Download} /> Download ZIP
        </a>
      )}
      <a className="button plain" href={`/user/batches/${jobId}/manifest`} download>
        <Icon of={FileJson} /> Download manifest
      </a>
    </>
  );
}

/** The failed ones first, where there are some: they are what one looks for. */
function Items({ id, hasFailed }: { id: string; hasFailed: boolean }) {
  const [filters, setFilters] = useFilters();
  const asked = filters.get('status');
  const status = asked === null && hasFailed ? 'failed' : oneOf(asked, STATUSES);
  const query = { ...pageOf(filters), ...(status && { status }) };
  const items = useQuery({
    queryKey: [LIVE, 'items', id, query],
    queryFn: () => call(api.GET('/user/batches/{id}/items', { params: { path: { id }, query } })),
    placeholderData: (before) => before,
  });
  const rows = items.data?.items ?? [];
  return (
    <Card title="Documents">
      <div className="filters">
        <Select
          label="Status"
          value={status ?? 'any'}
          options={[['any', 'Any'], ...STATUSES.map((each) => [each, each] as const)]}
          onChange={(value) => setFilters({ status: value })}
        />
      </div>
      <Listing
        query={items}
        empty={<p className="quiet">No documents match this filter.</p>}
        caption="Documents of the batch"
        rows={rows}
        linked
        rowKey={({ itemId }) => itemId}
        columns={[
          {
            title: 'Document',
            phone: 'lead',
            cell: ({ itemId, jobId }) =>
              jobId === null ? (
                <bdi>{itemId}</bdi>
              ) : (
                <Link href={`/renders/${jobId}`}>
                  <bdi>{itemId}</bdi>
                </Link>
              ),
          },
          { title: 'Status', phone: 'end', cell: (row) => <Badge status={row.status} /> },
          {
            title: 'Error',
            phone: 'plain',
            cell: ({ error }) => (error === null ? '' : <bdi>{`${error.code}: ${error.message}`}</bdi>),
          },
          {
            title: 'Pages',
            phone: 'none',
            numeric: true,
            cell: ({ pages }) => (pages > 0 ? number(pages) : ''),
          },
          {
            title: 'Size',
            phone: 'plain',
            numeric: true,
            cell: ({ pdfSize }) => (pdfSize > 0 ? bytes(pdfSize) : ''),
          },
        ]}
      />
    </Card>
  );
}

function fetchBatch(id: string) {
  return call(api.GET('/user/batches/{id}', { params: { path: { id } } }));
}
