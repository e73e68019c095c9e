import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { api, call } from '../api.ts';
import { oneOf, pageOf, useFilters } from '../filters.ts';
import { number, shortId } from '../format.ts';
import { LIVE } from '../live.ts';
import { Badge, Code, Time } from '../ui/bits.tsx';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { TextField } from '../ui/field.tsx';
import { Filter } from '../ui/filter.tsx';
import { Card, Page } from '../ui/page.tsx';
import { Empty, ErrorNote, Loading } from '../ui/states.tsx';
import { Listing } from '../ui/table.tsx';
import { toast, toastError } from '../ui/toasts.tsx';
import { SigningKeys } from './signing-keys.tsx';

const STATUSES = ['pending', 'delivered', 'failed'] as const;

export default function Webhooks() {
  return (
    <Page title="Webhooks" lead="What the service sends to your addresses when a render or batch has ended.">
      <Deliveries />
      <div className="grid">
        <Test />
        <SigningKeys />
      </div>
      <p>
        <a href="/docs/callbacks/#verify-the-signature">How to check a signature</a> in TypeScript, Python, Go
        and PHP.
      </p>
    </Page>
  );
}

function Deliveries() {
  const [filters, setFilters] = useFilters();
  const [shown, setShown] = useState<string>();
  const status = oneOf(filters.get('status'), STATUSES);
  const jobId = filters.get('jobId') ?? '';
  const query = { ...pageOf(filters), ...(status && { status }), ...(jobId !== '' && { jobId }) };
  const deliveries = useQuery({
    queryKey: [LIVE, 'deliveries', query],
    queryFn: () => call(api.GET('/user/webhook-deliveries', { params: { query } })),
    placeholderData: (before) => before,
  });
  const rows = deliveries.data?.deliveries ?? [];
  return (
    <Card title="Deliveries">
      <div className="filters">
        <Filter label="Status" name="status" values={STATUSES} />
        {jobId !== '' && (
          <Button onClick={() => setFilters({ jobId: '' })}>Of job {shortId(jobId)} only: show all</Button>
        )}
      </div>
      <Listing
        query={deliveries}
        empty={
          <Empty title="Nothing was delivered.">
            <p>
              Name a <code>webhookUrl</code> in a request, and what becomes of it is shown here.
            </p>
          </Empty>
        }
        caption="Deliveries"
        rows={rows}
        rowKey={({ id }) => id}
        columns={[
          { title: 'Event', cell: ({ event }) => event },
          { title: 'To', cell: ({ url }) => <bdi className="wrap">{url}</bdi> },
          { title: 'Status', cell: (row) => <Badge status={row.status} /> },
          { title: 'Attempts', numeric: true, cell: ({ attemptCount }) => number(attemptCount) },
          { title: 'Last answer', cell: ({ responseStatus, error }) => error ?? responseStatus ?? '' },
          { title: 'Made', cell: ({ createdAt }) => <Time at={createdAt} /> },
          {
            title: 'More',
            cell: ({ id }) => (
              <Button onClick={() => setShown(id)}>
                Show<span className="unseen"> delivery {shortId(id)}</span>
              </Button>
            ),
          },
        ]}
      />
      <Dialog title="Delivery" open={shown !== undefined} onClose={() => setShown(undefined)}>
        {shown !== undefined && <Delivery id={shown} />}
      </Dialog>
    </Card>
  );
}

function Delivery({ id }: { id: string }) {
  const queries = useQueryClient();
  const path = { params: { path: { id } } };
  const delivery = useQuery({
    queryKey: [LIVE, 'delivery', id],
    queryFn: () => call(api.GET('/user/webhook-deliveries/{id}', path)),
  });
  const again = useMutation({
    mutationFn: () => call(api.POST('/user/webhook-deliveries/{id}/redeliver', path)),
    onSuccess: () => {
      toast('It is sent again.');
      void queries.invalidateQueries({ queryKey: [LIVE] });
    },
    onError: toastError,
  });
  if (delivery.error !== null) return <ErrorNote error={delivery.error} retry={delivery.refetch} />;
  if (delivery.data === undefined) return <Loading />;
  const { attempts, payload, jobId, event } = delivery.data;
  return (
    <>
      <ul className="list rows">
        {attempts.map(({ at, responseStatus, error }) => (
          <li key={at}>
            <Time at={at} />
            <span>{error ?? `answered ${responseStatus}`}</span>
          </li>
        ))}
        {attempts.length === 0 && <li>It was not tried yet.</li>}
      </ul>
      <Code label="What is sent" text={JSON.stringify(payload, null, 2)} />
      <div className="actions">
        <Button busy={again.isPending} onClick={() => again.mutate()}>
          Send it again
        </Button>
        {event.startsWith('render.') && <Link href={`/renders/${jobId}`}>The render</Link>}
        {event.startsWith('batch.') && <Link href={`/batches/${jobId}`}>The batch</Link>}
      </div>
    </>
  );
}

function Test() {
  const queries = useQueryClient();
  const [url, setUrl] = useState('');
  const send = useMutation({
    mutationFn: () => call(api.POST('/user/webhook-deliveries/test', { body: { url } })),
    onSuccess: () => {
      toast('A test is on its way; it is in the list.');
      void queries.invalidateQueries({ queryKey: [LIVE, 'deliveries'] });
    },
  });
  return (
    <Card title="Send a test">
      <form
        className="form"
        onSubmit={(event) => {
          event.preventDefault();
          send.mutate();
        }}
      >
        <TextField label="Address" type="url" required value={url} onChange={setUrl} />
        {send.error !== null && <ErrorNote error={send.error} />}
        <Button type="submit" busy={send.isPending}>
          Send
        </Button>
      </form>
    </Card>
  );
}
