import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { api, call } from '../api.ts';
import { oneOf, pageOf, useFilters } from '../filters.ts';
import { duration, number, shortId } from '../format.ts';
import { PERIOD_OPTIONS, PERIODS } from '../periods.ts';
import { Badge, Time } from '../ui/bits.tsx';
import { Select } from '../ui/field.tsx';
import { Filter } from '../ui/filter.tsx';
import { Page } from '../ui/page.tsx';
import { Empty } from '../ui/states.tsx';
import { Listing } from '../ui/table.tsx';

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
  return (
    <Page
      title="Request log"
      lead="Requests for renders and batches, by your API keys and from the dashboard."
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
      <Listing
        query={logs}
        empty={<Empty title="No requests match these filters." />}
        caption="Requests"
        rows={rows}
        linked
        rowKey={({ id }) => id}
        columns={[
          { title: 'Time', phone: 'plain', cell: ({ createdAt }) => <Time at={createdAt} /> },
          {
            title: 'Request',
            phone: 'lead',
            cell: ({ method, endpoint }) => (
              <code>
                {method} {endpoint}
              </code>
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
    </Page>
  );
}

/** The page of the render or batch that a request was about. */
function placeOf(endpoint: string, jobId: string): string {
  return /\/batch(es)?(\/|$)/.test(endpoint) ? `/batches/${jobId}` : `/renders/${jobId}`;
}
