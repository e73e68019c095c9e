import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Activity, Eye, EyeOff } from 'lucide-react';
import { useState } from 'react';
import { Link } from 'wouter';
import { api, call } from '../api.ts';
import { oneOf, pageOf, useFilters } from '../filters.ts';
import { duration, hours, number, shortId } from '../format.ts';
import { PERIOD_OPTIONS, PERIODS } from '../periods.ts';
import { useAccount } from '../session.tsx';
import { Badge, Time } from '../ui/bits.tsx';
import { Button } from '../ui/button.tsx';
import { FilterChips } from '../ui/chips.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Select } from '../ui/field.tsx';
import { Filter } from '../ui/filter.tsx';
import { Page } from '../ui/page.tsx';
import { Empty } from '../ui/states.tsx';
import { Listing } from '../ui/table.tsx';
import { toast, toastError } from '../ui/toasts.tsx';
import { LogEntry } from './log-entry.tsx';

const OUTCOMES = ['success', 'error'] as const;
const ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** What the log names as the key of a request that came from these pages. */
const DASHBOARD = 'dashboard';

export default function Logs() {
  const [filters, setFilters] = useFilters();
  const status = oneOf(filters.get('status'), OUTCOMES);
  const period = oneOf(filters.get('period'), PERIODS) ?? '7d';
  const endpoint = filters.get('endpoint') ?? '';
  const key = filters.get('key') ?? '';
  const query = {
    ...pageOf(filters),
    period,
    ...(status && { status }),
    ...(endpoint !== '' && { endpoint }),
    ...(ID.test(key) && { apiKeyId: key }),
  };
  const logs = useQuery({
    queryKey: ['logs', query],
    queryFn: () => call(api.GET('/user/request-logs', { params: { query } })),
    placeholderData: (before) => before,
  });
  const keys = useQuery({
    queryKey: ['keys', 'choice'],
    queryFn: () => call(api.GET('/user/api-keys', { params: { query: { limit: 100 } } })),
  });
  const rows = logs.data?.logs ?? [];
  const open = filters.get('open');
  // Opening a row leaves the page of the list as it is.
  const show = (id: string) => setFilters({ open: id, offset: filters.get('offset') ?? '' });
  const chips = [
    ...(status ? [['status', `Outcome: ${status}`] as const] : []),
    ...(endpoint === '' ? [] : [['endpoint', `Route: ${endpoint}`] as const]),
    ...(key === ''
      ? []
      : [['key', `Key: ${keys.data?.keys.find(({ id }) => id === key)?.name ?? 'one'}`] as const]),
  ];
  return (
    <Page
      title="Request log"
      lead="Requests for renders and batches, by your API keys and from the dashboard."
      actions={logs.data !== undefined && <Kept {...logs.data} />}
    >
      <div className="filters">
        <Select
          label="Period"
          value={period}
          options={PERIOD_OPTIONS}
          onChange={(value) => setFilters({ period: value })}
        />
        <Filter label="Outcome" name="status" values={OUTCOMES} />
        <Filter label="Route" name="endpoint" values={logs.data?.endpointOptions ?? []} />
        <Select
          label="Key"
          value={key}
          options={[['', 'Any'], ...(keys.data?.keys ?? []).map(({ id, name }) => [id, name] as const)]}
          onChange={(value) => setFilters({ key: value })}
        />
        {logs.data !== undefined && (
          <p className="quiet">
            {number(logs.data.summary.successCount)} succeeded, {number(logs.data.summary.failedCount)} failed
          </p>
        )}
      </div>
      <FilterChips chips={chips} />
      <Listing
        query={logs}
        empty={
          status === undefined && endpoint === '' && key === '' ? (
            <Empty title="No requests in this period" icon={Activity}>
              <p>
                Each request for a render or batch is listed here, also those that were rejected, and why.
              </p>
            </Empty>
          ) : (
            <Empty title="No requests match these filters." />
          )
        }
        caption="Requests"
        rows={rows}
        linked
        rowKey={({ id }) => id}
        columns={[
          { title: 'Time', phone: 'plain', cell: ({ createdAt }) => <Time at={createdAt} /> },
          {
            title: 'Request',
            phone: 'lead',
            cell: ({ id, method, endpoint }) => (
              <button type="button" className="row-opener" onClick={() => show(id)}>
                <code>
                  {method} {endpoint}
                </code>{' '}
                <span className="unseen">{shortId(id)}</span>
              </button>
            ),
          },
          {
            title: 'Status',
            phone: 'end',
            cell: ({ status, statusCode }) => (
              <>
                <Badge status={status} /> {statusCode}
              </>
            ),
          },
          {
            title: 'Duration',
            phone: 'plain',
            numeric: true,
            cell: ({ durationMs }) => (durationMs === null ? '' : duration(durationMs)),
          },
          {
            title: 'Error',
            phone: 'plain',
            cell: ({ errorReason }) => errorReason !== null && <bdi>{errorReason}</bdi>,
          },
          {
            title: 'Key',
            phone: 'plain',
            cell: ({ apiKeyPrefix }) =>
              apiKeyPrefix === DASHBOARD ? 'Dashboard' : <code>{apiKeyPrefix}…</code>,
          },
          { title: 'IP address', phone: 'none', cell: ({ ipAddress }) => ipAddress },
          {
            title: 'Result',
            phone: 'plain',
            cell: ({ jobId, endpoint }) =>
              jobId !== null && <Link href={placeOf(endpoint, jobId)}>{shortId(jobId)}</Link>,
          },
        ]}
      />
      <Dialog title="Request" open={open !== null} onClose={() => show('')}>
        {open !== null && <LogEntry id={open} placeOf={placeOfEntry} />}
      </Dialog>
    </Page>
  );
}

/** Whether headers and bodies are kept, which the owner may change. */
function Kept({ detailsKept, detailsKeptHours }: { detailsKept: boolean; detailsKeptHours: number }) {
  const queries = useQueryClient();
  const { role } = useAccount();
  const [asks, setAsks] = useState(false);
  const change = useMutation({
    mutationFn: () => call(api.PUT('/user/request-logs/details', { body: { kept: !detailsKept } })),
    onSuccess: () => {
      setAsks(false);
      toast(
        detailsKept
          ? 'Headers and bodies are not kept any more.'
          : 'Headers and bodies are kept from now on.',
      );
      void queries.invalidateQueries({ queryKey: ['logs'] });
      void queries.invalidateQueries({ queryKey: ['log'] });
    },
    onError: toastError,
  });
  if (detailsKeptHours === 0)
    return <p className="quiet">Headers and bodies are not kept: the plan keeps no documents</p>;
  const said = detailsKept
    ? `Headers and bodies are kept for ${hours(detailsKeptHours)}`
    : 'Headers and bodies are not kept';
  if (role !== 'owner') return <p className="quiet">{said}</p>;
  return (
    <>
      <Button icon={detailsKept ? Eye : EyeOff} onClick={() => setAsks(true)}>
        {said}
      </Button>
      <Dialog title="Headers and bodies of requests" open={asks} onClose={() => setAsks(false)}>
        <p>
          The log keeps the headers and the JSON of each request and its response for{' '}
          {hours(detailsKeptHours)}, with long values cut and secrets masked, so that everyone in the account
          can see why a request has failed.
        </p>
        <p>
          {detailsKept
            ? 'Turned off, none are kept any more, and earlier ones are not shown.'
            : 'Turned on, they are kept from the next request on.'}
        </p>
        <Button
          kind={detailsKept ? 'danger' : 'primary'}
          busy={change.isPending}
          onClick={() => change.mutate()}
        >
          {detailsKept ? 'Turn off' : 'Turn on'}
        </Button>
      </Dialog>
    </>
  );
}

function placeOfEntry({ endpoint, jobId }: { endpoint: string; jobId: string | null }): string | undefined {
  return jobId === null ? undefined : placeOf(endpoint, jobId);
}

/** The page of the render or batch that a request was about. */
function placeOf(endpoint: string, jobId: string): string {
  return /\/batch(es)?(\/|$)/.test(endpoint) ? `/batches/${jobId}` : `/renders/${jobId}`;
}
