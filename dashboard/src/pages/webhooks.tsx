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
  const plans = useQuery({ queryKey: ['plans'], queryFn: () => call(api.GET('/user/plans')) });
  const isMissing = plans.data?.plans.some(({ current, limits }) => current && !limits.features.callbacks);
  return (
    <Page title="Webhooks" lead="Messages that we send to your addresses when a render or batch ends.">
      {isMissing && (
        <div className="note">
          <p>
            Your plan does not include webhooks. <Link href="/billing">See plans</Link>
          </p>
        </div>
      )}
      <Deliveries />
      <div className="grid">
        {!isMissing && <Test />}
        <SigningKeys />
      </div>
      <p>
        <a href="/docs/callbacks/#verify-the-signature" target="_blank" rel="noreferrer">
          How to check a signature
        </a>{' '}
        in TypeScript, Python, Go and PHP.
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
          <Button onClick={() => setFilters({ jobId: '' })}>Only of {shortId(jobId)}. Show all</Button>
        )}
      </div>
      <Listing
        query={deliveries}
        empty={
          status !== undefined || jobId !== '' ? (
            <Empty title="No deliveries match these filters." />
          ) : (
            <Empty title="No deliveries yet.">
              <p>
                Add a <code>webhookUrl</code> to a render or batch request. Every delivery to it is listed
                here.
              </p>
            </Empty>
          )
        }
        caption="Deliveries"
        rows={rows}
        rowKey={({ id }) => id}
        columns={[
          { title: 'Event', cell: ({ event }) => event },
          { title: 'To', cell: ({ url }) => <bdi className="wrap">{url}</bdi> },
          { title: 'Status', cell: (row) => <Badge status={row.status} /> },
          { title: 'Attempts', numeric: true, cell: ({ attemptCount }) => number(attemptCount) },
          { title: 'Last response', cell: ({ responseStatus, error }) => error ?? responseStatus ?? '' },
          { title: 'Created', cell: ({ createdAt }) => <Time at={createdAt} /> },
          {
            title: 'Details',
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
      toast('Sending it again.');
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
            <span>{error ?? `Responded with ${responseStatus}`}</span>
          </li>
        ))}
        {attempts.length === 0 && <li>Not tried yet.</li>}
      </ul>
      <Code label="Payload" text={JSON.stringify(payload, null, 2)} />
      <div className="actions">
        <Button busy={again.isPending} onClick={() => again.mutate()}>
          Send again
        </Button>
        {event.startsWith('render.') && <Link href={`/renders/${jobId}`}>Open the render</Link>}
        {event.startsWith('batch.') && <Link href={`/batches/${jobId}`}>Open the batch</Link>}
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
      toast('Test sent. It is in the list above.');
      void queries.invalidateQueries({ queryKey: [LIVE, 'deliveries'] });
    },
  });
  return (
    <Card title="Send a test webhook">
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
          Send test
        </Button>
      </form>
    </Card>
  );
}
