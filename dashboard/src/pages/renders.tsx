import { useQuery } from '@tanstack/react-query';
import { FileText, FlaskConical, KeyRound } from 'lucide-react';
import { type MouseEvent, useEffect, useState } from 'react';
import { Link } from 'wouter';
import { api, call } from '../api.ts';
import { pageOf, useFilters } from '../filters.ts';
import { duration, number, shortId, titled } from '../format.ts';
import { LIVE } from '../live.ts';
import { Beside, currentOffset, WIDE } from '../renders/beside.tsx';
import { FilterBar } from '../renders/filter-bar.tsx';
import { SavedViews } from '../renders/saved-views.tsx';
import { SearchedTo } from '../renders/searched-to.tsx';
import { sortOf, termsOf } from '../renders/terms.ts';
import { SOURCES } from '../statuses.ts';
import { Badge, Time } from '../ui/bits.tsx';
import { Icon } from '../ui/icon.tsx';
import { IfMayDevelop } from '../ui/if-may.tsx';
import { Page } from '../ui/page.tsx';
import { Empty } from '../ui/states.tsx';
import { Listing } from '../ui/table.tsx';
import { Selected } from './selected-renders.tsx';

export default function Renders() {
  const [filters, setFilters] = useFilters();
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const terms = termsOf(filters);
  const sort = sortOf(filters);
  const narrowed = { ...terms, ...(sort && { sort }) };
  const query = { ...pageOf(filters), ...narrowed };
  const renders = useQuery({
    queryKey: [LIVE, 'renders', query],
    queryFn: () => call(api.GET('/user/renders', { params: { query } })),
    placeholderData: (before) => before,
  });
  const rows = renders.data?.renders ?? [];
  const open = filters.get('open');
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
  /** Where there is room, a row opens beside the list; a press with a key goes where links do. */
  const onRow = (event: MouseEvent, id: string) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey || !window.matchMedia(WIDE).matches)
      return;
    event.preventDefault();
    setFilters({ open: id, offset: currentOffset() }, { replace: open !== null });
  };
  return (
    <Page
      title="Renders"
      lead="Single renders from the dashboard, live keys and test keys. Documents of batches are under Batches."
    >
      <FilterBar />
      <SavedViews />
      <Selected
        renders={selected}
        matching={
          selected.length === rows.length && (renders.data?.total ?? 0) > rows.length
            ? { total: renders.data!.total, query: narrowed }
            : undefined
        }
        done={() => setChosen(new Set())}
      />
      <div className={open === null ? undefined : 'with-peek'}>
        <div className="list-side">
          <Listing
            query={renders}
            empty={
              Object.keys(terms).length > 0 ? (
                <Empty title="No renders match these filters." />
              ) : (
                <Empty
                  title="No renders yet"
                  icon={FileText}
                  actions={
                    <IfMayDevelop>
                      <Link className="button plain" href="/playground">
                        <Icon of={FlaskConical} /> Open the playground
                      </Link>
                      <Link className="button plain" href="/keys">
                        <Icon of={KeyRound} /> Create an API key
                      </Link>
                    </IfMayDevelop>
                  }
                >
                  <p>
                    Each PDF that you make is listed here, with how long each step took, and with the reason
                    where it has failed.
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
                  <Link
                    href={`/renders/${jobId}`}
                    aria-current={jobId === open ? 'true' : undefined}
                    onClick={(event: MouseEvent) => onRow(event, jobId)}
                  >
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
          <SearchedTo to={renders.data?.searchedTo ?? null} ascending={sort === 'created_asc'} />
        </div>
        {open !== null && /^[0-9a-f-]{36}$/.test(open) && (
          <Beside id={open} ids={rows.map(({ jobId }) => jobId)} />
        )}
      </div>
    </Page>
  );
}
