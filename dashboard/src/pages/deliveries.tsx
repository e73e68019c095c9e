import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { RotateCw, Webhook } from 'lucide-react';
import { useState } from 'react';
import { api, call } from '../api.ts';
import { momentOf, oneOf, pageOf, useFilters } from '../filters.ts';
import { counted, number, shortId } from '../format.ts';
import { LIVE } from '../live.ts';
import { SearchedTo } from '../renders/searched-to.tsx';
import { useMayDevelop } from '../session.tsx';
import { Badge, Time } from '../ui/bits.tsx';
import { Button } from '../ui/button.tsx';
import { FilterChips } from '../ui/chips.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Select } from '../ui/field.tsx';
import { Filter } from '../ui/filter.tsx';
import { Card } from '../ui/page.tsx';
import { SearchField } from '../ui/search-field.tsx';
import { Empty, ErrorNote } from '../ui/states.tsx';
import { Listing } from '../ui/table.tsx';
import { toast } from '../ui/toasts.tsx';
import { Delivery } from './delivery.tsx';

const STATUSES = ['pending', 'delivered', 'failed'] as const;
const EVENTS = ['render.completed', 'render.failed', 'batch.completed', 'webhook.test'] as const;
const HOUR_MS = 3_600_000;
const SINCE = [
  ['1', 'The last hour'],
  ['24', 'The last 24 hours'],
  ['168', 'The last 7 days'],
  ['720', 'The last 30 days'],
] as const;

/** What was sent to addresses, by what was sent, where to and what came of it. */
export function Deliveries() {
  const [filters, setFilters] = useFilters();
  const mayChange = useMayDevelop();
  const status = oneOf(filters.get('status'), STATUSES);
  const event = oneOf(filters.get('event'), EVENTS);
  const url = filters.get('url')?.slice(0, 200) ?? '';
  const jobId = filters.get('jobId') ?? '';
  const to = momentOf(filters.get('to'));
  const open = filters.get('open');
  const terms = { ...(event && { event }), ...(url !== '' && { url }) };
  const query = {
    ...pageOf(filters),
    ...terms,
    ...(status && { status }),
    ...(jobId !== '' && { jobId }),
    ...(to && { to }),
  };
  const deliveries = useQuery({
    queryKey: [LIVE, 'deliveries', query],
    queryFn: () => call(api.GET('/user/webhook-deliveries', { params: { query } })),
    placeholderData: (before) => before,
  });
  const chips = [
    ...(status ? [['status', `Status: ${status}`] as const] : []),
    ...(event ? [['event', `Event: ${event}`] as const] : []),
    ...(url === '' ? [] : [['url', `To “${url}”`] as const]),
    ...(jobId === '' ? [] : [['jobId', `About ${shortId(jobId)}`] as const]),
    ...(to ? [['to', `Before ${new Date(to).toLocaleString()}`] as const] : []),
  ];
  return (
    <Card title="Deliveries" actions={mayChange && <ReplayFailed terms={terms} />}>
      <div className="filters">
        <SearchField label="To" name="url" placeholder="shop.example.com" maxLength={200} />
        <Filter label="Status" name="status" values={STATUSES} />
        <Filter label="Event" name="event" values={EVENTS} />
      </div>
      <FilterChips chips={chips} />
      <Listing
        query={deliveries}
        empty={
          chips.length > 0 ? (
            <Empty title="No deliveries match these filters." />
          ) : (
            <Empty title="No deliveries yet" icon={Webhook}>
              <p>
                Add a <code>webhookUrl</code> to a render or batch request, and we call it when that ends.
                Each call is listed here with what your server answered, and is tried again for nine hours.
              </p>
            </Empty>
          )
        }
        caption="Deliveries"
        rows={deliveries.data?.deliveries ?? []}
        linked
        rowKey={({ id }) => id}
        columns={[
          {
            title: 'Event',
            phone: 'lead',
            cell: ({ id, event: of }) => (
              <button
                type="button"
                className="row-opener"
                onClick={() => setFilters({ open: id, ...here() })}
              >
                {of} <span className="unseen">{shortId(id)}</span>
              </button>
            ),
          },
          { title: 'Status', phone: 'end', cell: (row) => <Badge status={row.status} /> },
          { title: 'To', phone: 'plain', cell: (row) => <bdi className="wrap">{row.url}</bdi> },
          {
            title: 'Last response',
            phone: 'plain',
            cell: ({ responseStatus, error }) => responseStatus ?? (error === null ? '' : 'No response'),
          },
          {
            title: 'Attempts',
            phone: 'none',
            numeric: true,
            cell: ({ attemptCount }) => number(attemptCount),
          },
          {
            title: 'Next try',
            phone: 'none',
            cell: ({ nextAttemptAt }) => nextAttemptAt !== null && <Time at={nextAttemptAt} />,
          },
          { title: 'Created', phone: 'plain', cell: ({ createdAt }) => <Time at={createdAt} /> },
        ]}
      />
      <SearchedTo to={deliveries.data?.searchedTo ?? null} ascending={false} of="deliveries" />
      <Dialog title="Delivery" open={open !== null} onClose={() => setFilters({ open: '', ...here() })}>
        {open !== null && <Delivery id={open} />}
      </Dialog>
    </Card>
  );

  /** Opening a row leaves the page of the list as it is. */
  function here() {
    return { offset: filters.get('offset') ?? '' };
  }
}

/** Sends again what has failed since a time, of what the list is narrowed to. */
function ReplayFailed({
  terms,
}: {
  terms: { readonly event?: (typeof EVENTS)[number]; readonly url?: string };
}) {
  const queries = useQueryClient();
  const [isOpen, setOpen] = useState(false);
  const [hours, setHours] = useState<string>('24');
  const replay = useMutation({
    mutationFn: async () => {
      let since: string | null = new Date(Date.now() - Number(hours) * HOUR_MS).toISOString();
      let count = 0;
      while (since !== null) {
        const body = { ...terms, since };
        const sent: { redelivered: number; nextSince: string | null } = await call(
          api.POST('/user/webhook-deliveries/redeliver-failed', { body }),
        );
        count += sent.redelivered;
        since = sent.nextSince;
      }
      return count;
    },
    onSuccess: (count) => {
      setOpen(false);
      toast(count === 0 ? 'Nothing has failed in that time.' : `Sending ${counted(count, 'webhook')} again.`);
      void queries.invalidateQueries({ queryKey: [LIVE] });
    },
  });
  const of = [terms.event, terms.url].filter((each) => each !== undefined).join(', ');
  return (
    <>
      <Button icon={RotateCw} onClick={() => setOpen(true)}>
        Replay failed
      </Button>
      <Dialog title="Replay failed deliveries" open={isOpen} onClose={() => setOpen(false)}>
        <p>
          Each is sent once more under its own id, with all its attempts: after an outage of your server, for
          example. Your server may have seen some of them already.
        </p>
        {of !== '' && (
          <p>
            Only those of the filters: <bdi>{of}</bdi>.
          </p>
        )}
        <Select
          label="Created in"
          value={hours}
          options={SINCE}
          onChange={(value) => value !== '' && setHours(value)}
        />
        {replay.error !== null && <ErrorNote error={replay.error} />}
        <Button kind="primary" icon={RotateCw} busy={replay.isPending} onClick={() => replay.mutate()}>
          Send again
        </Button>
      </Dialog>
    </>
  );
}
