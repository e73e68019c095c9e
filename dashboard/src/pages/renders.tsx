import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { api, call } from '../api.ts';
import { oneOf, pageOf, useFilters } from '../filters.ts';
import { duration, number, shortId } from '../format.ts';
import { LIVE } from '../live.ts';
import { STATUSES } from '../statuses.ts';
import { Badge, Time } from '../ui/bits.tsx';
import { Button } from '../ui/button.tsx';
import { TextField } from '../ui/field.tsx';
import { Filter } from '../ui/filter.tsx';
import { Page } from '../ui/page.tsx';
import { Empty } from '../ui/states.tsx';
import { Listing } from '../ui/table.tsx';
import { toast, toastError } from '../ui/toasts.tsx';

const MODES = ['live', 'test'] as const;

export default function Renders() {
  const [filters, setFilters] = useFilters();
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const status = oneOf(filters.get('status'), STATUSES);
  const mode = oneOf(filters.get('mode'), MODES);
  const from = filters.get('from') ?? '';
  const query = {
    ...pageOf(filters),
    ...(status && { status }),
    ...(mode && { mode }),
    ...(from !== '' && { from: new Date(from).toISOString() }),
  };
  const renders = useQuery({
    queryKey: [LIVE, 'renders', query],
    queryFn: () => call(api.GET('/user/renders', { params: { query } })),
    placeholderData: (before) => before,
  });
  const rows = renders.data?.renders ?? [];
  const choose = (id: string, on: boolean) => {
    const next = new Set(chosen);
    if (on) next.add(id);
    else next.delete(id);
    setChosen(next);
  };
  return (
    <Page title="Renders" lead="Every render of this account, from the dashboard, live keys and test keys.">
      <div className="filters">
        <Filter label="Status" name="status" values={STATUSES} />
        <Filter label="Mode" name="mode" values={MODES} />
        <TextField
          label="Since"
          type="datetime-local"
          value={from}
          onChange={(value) => setFilters({ from: value })}
        />
        <Several ids={[...chosen]} done={() => setChosen(new Set())} />
      </div>
      <Listing
        query={renders}
        empty={
          <Empty title="No render is like this.">
            <p>
              Change the filters, or make one in the <Link href="/playground">playground</Link>.
            </p>
          </Empty>
        }
        caption="Renders"
        rows={rows}
        rowKey={({ jobId }) => jobId}
        columns={[
          {
            title: 'Choose',
            cell: ({ jobId }) => (
              <input
                type="checkbox"
                aria-label={`Choose render ${shortId(jobId)}`}
                checked={chosen.has(jobId)}
                onChange={(event) => choose(jobId, event.target.checked)}
              />
            ),
          },
          {
            title: 'Render',
            cell: ({ jobId, fileName }) => (
              <Link href={`/renders/${jobId}`}>
                <bdi>{fileName}</bdi> <span className="quiet">{shortId(jobId)}</span>
              </Link>
            ),
          },
          { title: 'Status', cell: (row) => <Badge status={row.status} /> },
          { title: 'Error', cell: ({ error }) => error?.code ?? '' },
          { title: 'From', cell: ({ inputMode, mode }) => `${inputMode}, ${mode}` },
          { title: 'Pages', numeric: true, cell: ({ pages }) => (pages > 0 ? number(pages) : '') },
          {
            title: 'Took',
            numeric: true,
            cell: ({ processingTimeMs, completedAt }) =>
              completedAt === null ? '' : duration(processingTimeMs),
          },
          { title: 'Made', cell: ({ createdAt }) => <Time at={createdAt} /> },
        ]}
      />
    </Page>
  );
}

/** Cancels or retries what is chosen, one after the other, and says how many it was possible for. */
function Several({ ids, done }: { ids: readonly string[]; done: () => void }) {
  const queries = useQueryClient();
  const [busy, setBusy] = useState(false);
  if (ids.length === 0) return null;
  const each = async (what: string, act: (id: string) => Promise<unknown>) => {
    setBusy(true);
    let count = 0;
    for (const id of ids) {
      try {
        await act(id);
        count += 1;
      } catch (error) {
        toastError(error);
      }
    }
    toast(`${number(count)} of ${number(ids.length)} ${what}.`);
    setBusy(false);
    done();
    void queries.invalidateQueries({ queryKey: [LIVE] });
  };
  const params = (id: string) => ({ params: { path: { id } } });
  return (
    <div className="actions">
      <Button
        busy={busy}
        onClick={() => void each('cancelled', (id) => call(api.DELETE('/user/renders/{id}', params(id))))}
      >
        Cancel {number(ids.length)}
      </Button>
      <Button
        busy={busy}
        onClick={() =>
          void each('rendered again', (id) => call(api.POST('/user/renders/{id}/retry', params(id))))
        }
      >
        Retry {number(ids.length)}
      </Button>
    </div>
  );
}
