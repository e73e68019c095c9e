import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { Link } from 'wouter';
import { api, call } from '../api.ts';
import { momentOf, oneOf, pageOf, useFilters } from '../filters.ts';
import { duration, number, shortId, titled } from '../format.ts';
import { LIVE } from '../live.ts';
import { SOURCES, STATUSES } from '../statuses.ts';
import { Badge, Time } from '../ui/bits.tsx';
import { TextField } from '../ui/field.tsx';
import { Filter } from '../ui/filter.tsx';
import { Page } from '../ui/page.tsx';
import { Empty } from '../ui/states.tsx';
import { Listing } from '../ui/table.tsx';
import { Selected } from './selected-renders.tsx';

const MODES = ['live', 'test'] as const;

export default function Renders() {
  const [filters, setFilters] = useFilters();
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const status = oneOf(filters.get('status'), STATUSES);
  const mode = oneOf(filters.get('mode'), MODES);
  const from = momentOf(filters.get('from'));
  const to = momentOf(filters.get('to'));
  const isFiltered = status !== undefined || mode !== undefined || from !== undefined || to !== undefined;
  const query = {
    ...pageOf(filters),
    ...(status && { status }),
    ...(mode && { mode }),
    ...(from && { from }),
    ...(to && { to }),
  };
  const renders = useQuery({
    queryKey: [LIVE, 'renders', query],
    queryFn: () => call(api.GET('/user/renders', { params: { query } })),
    placeholderData: (before) => before,
  });
  const rows = renders.data?.renders ?? [];
  // What is selected is what is seen: another page or filter begins anew.
  // biome-ignore lint/correctness/useExhaustiveDependencies: another page or filter
  useEffect(() => setChosen(new Set()), [JSON.stringify(query)]);
  const selected = rows.filter(({ jobId }) => chosen.has(jobId));
  const choose = (ids: readonly string[], on: boolean) => {
    const next = new Set(selected.map(({ jobId }) => jobId));
    for (const id of ids)
      if (on) next.add(id);
      else next.delete(id);
    setChosen(next);
  };
  return (
    <Page
      title="Renders"
      lead="Single renders from the dashboard, live keys and test keys. Documents of batches are under Batches."
    >
      <div className="filters">
        <Filter label="Status" name="status" values={STATUSES} />
        <Filter label="Mode" name="mode" values={MODES} />
        <TextField
          label="From"
          type="datetime-local"
          value={from === undefined ? '' : (filters.get('from') ?? '')}
          onChange={(value) => setFilters({ from: value })}
        />
        <TextField
          label="Until"
          type="datetime-local"
          value={to === undefined ? '' : (filters.get('to') ?? '')}
          onChange={(value) => setFilters({ to: value })}
        />
        <Selected renders={selected} done={() => setChosen(new Set())} />
      </div>
      <Listing
        query={renders}
        empty={
          isFiltered ? (
            <Empty title="No renders match these filters." />
          ) : (
            <Empty title="No renders yet.">
              <p>
                Make one in the <Link href="/playground">playground</Link>, or with an{' '}
                <Link href="/keys">API key</Link>.
              </p>
            </Empty>
          )
        }
        caption="Renders"
        rows={rows}
        linked
        rowKey={({ jobId }) => jobId}
        columns={[
          {
            title: 'Select',
            phone: 'plain',
            head: (
              <input
                type="checkbox"
                aria-label="Select all on this page"
                checked={rows.length > 0 && selected.length === rows.length}
                onChange={({ target }) =>
                  choose(
                    rows.map(({ jobId }) => jobId),
                    target.checked,
                  )
                }
              />
            ),
            cell: ({ jobId }) => (
              <input
                type="checkbox"
                aria-label={`Select render ${shortId(jobId)}`}
                checked={chosen.has(jobId)}
                onChange={({ target }) => choose([jobId], target.checked)}
              />
            ),
          },
          {
            title: 'Render',
            phone: 'lead',
            cell: ({ jobId, fileName }) => (
              <Link href={`/renders/${jobId}`}>
                <bdi>{fileName}</bdi> <span className="quiet">{shortId(jobId)}</span>
              </Link>
            ),
          },
          { title: 'Status', phone: 'end', cell: (row) => <Badge status={row.status} /> },
          { title: 'Error', phone: 'plain', cell: ({ error }) => error?.code ?? '' },
          { title: 'Source', phone: 'none', cell: ({ inputMode }) => SOURCES[inputMode] },
          { title: 'Mode', phone: 'plain', cell: (row) => titled(row.mode) },
          {
            title: 'Pages',
            phone: 'none',
            numeric: true,
            cell: ({ pages }) => (pages > 0 ? number(pages) : ''),
          },
          {
            title: 'Took',
            phone: 'plain',
            numeric: true,
            cell: ({ createdAt, completedAt }) =>
              completedAt === null ? '' : duration(Date.parse(completedAt) - Date.parse(createdAt)),
          },
          { title: 'Created', phone: 'plain', cell: ({ createdAt }) => <Time at={createdAt} /> },
        ]}
      />
    </Page>
  );
}
