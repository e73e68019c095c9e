import { useQuery } from '@tanstack/react-query';
import { FileSpreadsheet, Layers, Plus } from 'lucide-react';
import { Link } from 'wouter';
import { api, call } from '../api.ts';
import { oneOf, pageOf, useFilters } from '../filters.ts';
import { firstLine, number, shortId, titled } from '../format.ts';
import { LIVE } from '../live.ts';
import { STATUSES } from '../statuses.ts';
import { BatchProgress } from '../ui/batch-progress.tsx';
import { BatchBadge, Time } from '../ui/bits.tsx';
import { Filter } from '../ui/filter.tsx';
import { Icon } from '../ui/icon.tsx';
import { IfMayDevelop } from '../ui/if-may.tsx';
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
    <Page
      title="Batches"
      lead="Many documents in one request, with one ZIP and one webhook."
      actions={
        <IfMayDevelop>
          <Link className="button primary" href="/batches/new">
            <Icon of={Plus} /> New batch
          </Link>
        </IfMayDevelop>
      }
    >
      <div className="filters">
        <Filter label="Status" name="status" values={STATUSES} />
      </div>
      <Listing
        query={batches}
        empty={
          status === undefined ? (
            <Empty
              title="No batches yet"
              icon={Layers}
              actions={
                <IfMayDevelop>
                  <Link className="button plain" href="/batches/new">
                    <Icon of={FileSpreadsheet} /> Make one from a CSV or JSON file
                  </Link>
                </IfMayDevelop>
              }
            >
              <p>
                A batch makes a document of each row of a file, or of each item of a request to{' '}
                <code>POST /v1/pdf/batch</code>, and puts the PDFs into one ZIP.
              </p>
            </Empty>
          ) : (
            <Empty title="No batches match this filter." />
          )
        }
        caption="Batches"
        rows={rows}
        linked
        rowKey={({ jobId }) => jobId}
        columns={[
          {
            title: 'Batch',
            phone: 'lead',
            cell: ({ jobId, job: { notes } }) => (
              <Link href={`/batches/${jobId}`}>
                {notes !== '' && <bdi>{firstLine(notes)} </bdi>}
                <span className="quiet">{shortId(jobId)}</span>
              </Link>
            ),
          },
          {
            title: 'Status',
            phone: 'end',
            cell: ({ status, progress }) => <BatchBadge status={status} failed={progress.failed} />,
          },
          {
            title: 'Progress',
            phone: 'plain',
            cell: ({ progress }) => (
              <>
                <BatchProgress progress={progress} /> {number(progress.completed + progress.failed)} of{' '}
                {number(progress.total)}
              </>
            ),
          },
          // Which the badge says too.
          { title: 'Failed', numeric: true, phone: 'none', cell: ({ progress }) => number(progress.failed) },
          { title: 'Mode', phone: 'plain', cell: ({ mode }) => titled(mode) },
          { title: 'Created', phone: 'plain', cell: ({ createdAt }) => <Time at={createdAt} /> },
        ]}
      />
    </Page>
  );
}
