import { useQuery } from '@tanstack/react-query';
import { ArrowDown, ArrowUp, X } from 'lucide-react';
import { useEffect } from 'react';
import { Link } from 'wouter';
import { useFilters } from '../filters.ts';
import { bytes, counted, duration, shortId } from '../format.ts';
import { renderQuery } from '../render-query.ts';
import { Badge, Time } from '../ui/bits.tsx';
import { Button } from '../ui/button.tsx';
import { Icon } from '../ui/icon.tsx';
import { Facts } from '../ui/page.tsx';
import { JobError, PdfFrame } from '../ui/render-outcome.tsx';
import { ErrorNote, Loading } from '../ui/states.tsx';
import { EditAgain } from './edit-again.tsx';

/** Below this width the list has no room for anything beside it: a row leads to its page. */
export const WIDE = '(min-width: 72rem)';

/** A render beside the list, whose rows the arrow keys go through. @param ids of the rows, in their order. */
export function Beside({ id, ids }: { id: string; ids: readonly string[] }) {
  const [, setFilters] = useFilters();
  const render = useQuery(renderQuery(id));
  const at = ids.indexOf(id);
  const step = (by: number) => {
    const next = ids[at + by];
    if (next !== undefined) setFilters({ open: next, offset: currentOffset() }, { replace: true });
  };
  const close = () => setFilters({ open: '', offset: currentOffset() }, { replace: true });
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const target = event.target as HTMLElement;
      if (target.matches('input, select, textarea') || target.closest('dialog') !== null) return;
      const by = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 }[event.key];
      if (by !== undefined && !event.ctrlKey && !event.metaKey && !event.altKey) {
        event.preventDefault();
        step(by);
      } else if (event.key === 'Escape') close();
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  });
  return (
    <aside className="card peek" aria-label="The render that is open">
      <header>
        <h2>
          <bdi>{render.data?.fileName ?? 'Render'}</bdi> <span className="quiet">{shortId(id)}</span>
        </h2>
        <div className="actions">
          <Button aria-label="The render above" disabled={at <= 0} onClick={() => step(-1)}>
            <Icon of={ArrowUp} />
          </Button>
          <Button
            aria-label="The render below"
            disabled={at === -1 || at === ids.length - 1}
            onClick={() => step(1)}
          >
            <Icon of={ArrowDown} />
          </Button>
          <Link className="button plain" href={`/renders/${id}`}>
            Open
          </Link>
          <Button icon={X} onClick={close}>
            Close
          </Button>
        </div>
      </header>
      {render.error !== null && <ErrorNote error={render.error} retry={render.refetch} />}
      {render.isPending && <Loading />}
      {render.data !== undefined && (
        <>
          {render.data.error !== null && (
            <>
              <JobError error={render.data.error} />
              <EditAgain render={render.data} />
            </>
          )}
          <Facts
            facts={[
              ['Status', <Badge key="s" status={render.data.status} />],
              ['Created', <Time key="c" at={render.data.createdAt} />],
              [
                'Took',
                render.data.completedAt === null
                  ? '–'
                  : duration(Date.parse(render.data.completedAt) - Date.parse(render.data.createdAt)),
              ],
              [
                'PDF',
                render.data.pages > 0
                  ? `${counted(render.data.pages, 'page')}, ${bytes(render.data.pdfSize)}`
                  : '–',
              ],
            ]}
          />
          {render.data.outputAvailable && <PdfFrame id={id} />}
        </>
      )}
    </aside>
  );
}

/** Opening another render leaves the page of the list as it is. */
export function currentOffset(): string {
  return new URLSearchParams(window.location.search).get('offset') ?? '';
}
