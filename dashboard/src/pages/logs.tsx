import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { api, call } from '../api.ts';
import { oneOf, pageOf, useFilters } from '../filters.ts';
import { number, shortId } from '../format.ts';
import { PERIODS } from '../periods.ts';
import { Badge, Time } from '../ui/bits.tsx';
import { Select } from '../ui/field.tsx';
import { Filter } from '../ui/filter.tsx';
import { Page } from '../ui/page.tsx';
import { Empty } from '../ui/states.tsx';
import { Listing } from '../ui/table.tsx';

const OUTCOMES = ['success', 'error'] as const;

export default function Logs() {
  const [filters, setFilters] = useFilters();
  const status = oneOf(filters.get('status'), OUTCOMES);
  const period = oneOf(filters.get('period'), PERIODS) ?? '7d';
  const endpoint = filters.get('endpoint') ?? '';
  const query = {
    ...pageOf(filters),
    period,
    ...(status && { status }),
    ...(endpoint !== '' && { endpoint }),
  };
  const logs = useQuery({
    queryKey: ['logs', query],
    queryFn: () => call(api.GET('/user/request-logs', { params: { query } })),
    placeholderData: (before) => before,
  });
  const rows = logs.data?.logs ?? [];
  return (
    <Page title="Request logs" lead="What came in with your API keys, and what became of it.">
      <div className="filters">
        <Select
          label="Period"
          value={period}
          options={PERIODS.map((each) => [each, each] as const)}
          onChange={(value) => setFilters({ period: value })}
        />
        <Filter label="Outcome" name="status" values={OUTCOMES} />
        <Filter label="Route" name="endpoint" values={logs.data?.endpointOptions ?? []} />
        {logs.data !== undefined && (
          <p className="quiet">
            {number(logs.data.summary.successCount)} succeeded, {number(logs.data.summary.failedCount)} failed
          </p>
        )}
      </div>
      <Listing
        query={logs}
        empty={<Empty title="No request is like this." />}
        caption="Requests"
        rows={rows}
        rowKey={({ id }) => id}
        columns={[
          { title: 'When', cell: ({ createdAt }) => <Time at={createdAt} /> },
          { title: 'Route', cell: ({ endpoint }) => <code>{endpoint}</code> },
          { title: 'Outcome', cell: (row) => <Badge status={row.status} /> },
          { title: 'Why', cell: ({ errorReason }) => errorReason !== null && <bdi>{errorReason}</bdi> },
          { title: 'Key', cell: ({ apiKeyPrefix }) => <code>{apiKeyPrefix}…</code> },
          { title: 'From', cell: ({ ipAddress }) => ipAddress },
          {
            title: 'Render',
            cell: ({ jobId }) => jobId !== null && <Link href={`/renders/${jobId}`}>{shortId(jobId)}</Link>,
          },
        ]}
      />
    </Page>
  );
}
