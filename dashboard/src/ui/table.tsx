import type { UseQueryResult } from '@tanstack/react-query';
import { ChevronLeft, ChevronRight } from 'lucide-react';
import type { ReactNode } from 'react';
import { PAGE_SIZE, pageOf, useFilters } from '../filters.ts';
import { number } from '../format.ts';
import { Button } from './button.tsx';
import { ErrorNote, Loading } from './states.tsx';

/** The service pages no further, in any list. */
const MOST_OFFSET = 10_000;

export interface Column<Row> {
  readonly title: string;
  /** Shown in place of the title, above the rows: null for nothing but what is read aloud. */
  readonly head?: ReactNode;
  readonly cell: (row: Row) => ReactNode;
  /** Numbers stand at the right. */
  readonly numeric?: boolean;
  /**
   * Where it stands on a narrow screen, where a row has two lines: what the row is about (`lead`) and its state at the end
   * (`end`), then what needs no title (`plain`). Others are left out (`none`), or have a line with their title.
   */
  readonly phone?: 'lead' | 'end' | 'plain' | 'none';
}

/** Rows that the server has sorted and cut into pages. On a narrow screen each row is a list of its own. */
export function Table<Row>({
  caption,
  rows,
  columns,
  rowKey,
  linked = false,
}: {
  caption: string;
  rows: readonly Row[];
  columns: readonly Column<Row>[];
  rowKey: (row: Row) => string;
  /** Whether a row has one link, which a press anywhere in the row follows. */
  linked?: boolean;
}) {
  return (
    <table className={linked ? 'linked' : undefined}>
      <caption className="unseen">{caption}</caption>
      <thead>
        <tr>
          {columns.map(({ title, head, numeric }) => (
            <th key={title} scope="col" data-title={title} className={numeric ? 'numeric' : undefined}>
              {head === null ? <span className="unseen">{title}</span> : (head ?? title)}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={rowKey(row)}>
            {columns.map(({ title, cell, numeric, phone }) => (
              <td
                key={title}
                data-title={title}
                data-phone={phone}
                className={numeric ? 'numeric' : undefined}
              >
                {cell(row)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** A page of a list as the server has answered: its rows, or why there are none, and the way to the other pages. */
export function Listing<Row>({
  query: { data, error, isPending, refetch },
  empty,
  ...table
}: {
  query: Pick<UseQueryResult<{ readonly total: number }>, 'data' | 'error' | 'isPending' | 'refetch'>;
  /** Shown where the list has no row at all. */
  empty: ReactNode;
} & Parameters<typeof Table<Row>>[0]) {
  return (
    <>
      {error !== null && <ErrorNote error={error} retry={refetch} />}
      {isPending && <Loading shape="rows" />}
      {data?.total === 0 && empty}
      {table.rows.length > 0 && <Table {...table} />}
      <Pager total={data?.total ?? 0} />
    </>
  );
}

/** Leads to the pages before and after; the page is in the address. */
function Pager({ total }: { total: number }) {
  const [filters, setFilters] = useFilters();
  const { offset } = pageOf(filters);
  if (total <= PAGE_SIZE && offset === 0) return null;
  const go = (to: number) => setFilters({ offset: to <= 0 ? '' : String(to) });
  const isLast = offset + PAGE_SIZE >= total;
  const isBeyond = !isLast && offset + PAGE_SIZE > MOST_OFFSET;
  return (
    <nav className="pager" aria-label="Pages">
      <span>
        {offset >= total
          ? `Nothing here, of ${number(total)}`
          : `${number(offset + 1)}–${number(Math.min(offset + PAGE_SIZE, total))} of ${number(total)}`}
        {isBeyond && '. Narrow the filters to see older ones.'}
      </span>
      <Button icon={ChevronLeft} disabled={offset === 0} onClick={() => go(offset - PAGE_SIZE)}>
        Newer
      </Button>
      <Button
        icon={ChevronRight}
        className="turned"
        disabled={isLast || isBeyond}
        onClick={() => go(offset + PAGE_SIZE)}
      >
        Older
      </Button>
    </nav>
  );
}
