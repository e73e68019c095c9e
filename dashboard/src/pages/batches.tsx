import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { api, call } from '../api.ts';
import { oneOf, pageOf, useFilters } from '../filters.ts';
import { number, shortId } from '../format.ts';
import { LIVE } from '../live.ts';
import { STATUSES } from '../statuses.ts';
import { Badge, Time } from '../ui/bits.tsx';
import { Filter } from '../ui/filter.tsx';
import { Page } from '../ui/page.tsx';
import { Empty } from '../ui/states.tsx';
import { Listing } from '../ui/table.tsx';

export default function Batches() {
  const [filters] = useFilters();
  const status = oneOf(filters.get('status'), STATUSES);
  const query = { ...pageOf(filters), ...(status && { status }) };
  const batches = useQuery({
    queryKey: [LIVE, 'batches', query],
    queryFn: () => call(api.GET('/user/batches', { params: { query } })),
    placeholderData: (before) => before,
  });
  const rows = batches.data?.batches ?? [];
  return (
    <Page title="Batches" lead="Many documents in one request, with one ZIP and one callback.">
      <div className="filters">
        <Filter label="Status" name="status" values={STATUSES} />
      </div>
      <Listing
        query={batches}
        empty={
          <Empty title="No batch is like this.">
            <p>
              A batch is sent with an API key to <code>POST /v1/pdf/batch</code>. <a href="/docs">How</a>
            </p>
          </Empty>
        }
        caption="Batches"
        rows={rows}
        rowKey={({ jobId }) => jobId}
        columns={[
          { title: 'Batch', cell: ({ jobId }) => <Link href={`/batches/${jobId}`}>{shortId(jobId)}</Link> },
          { title: 'Status', cell: (row) => <Badge status={row.status} /> },
          {
            title: 'Progress',
            cell: ({ progress: { total, completed, failed } }) => (
              <>
                <progress max={total} value={completed + failed} aria-label="Items that have ended" />{' '}
                {number(completed + failed)} of {number(total)}
              </>
            ),
          },
          { title: 'Failed', numeric: true, cell: ({ progress }) => number(progress.failed) },
          { title: 'Mode', cell: ({ mode }) => mode },
          { title: 'Made', cell: ({ createdAt }) => <Time at={createdAt} /> },
        ]}
      />
    </Page>
  );
}
