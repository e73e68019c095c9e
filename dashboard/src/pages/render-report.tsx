import { useQuery } from '@tanstack/react-query';
import { bytes, counted, duration } from '../format.ts';
import { reportQuery } from '../render-query.ts';
import { Badge } from '../ui/bits.tsx';
import { Card } from '../ui/page.tsx';
import { ErrorNote, Loading } from '../ui/states.tsx';
import { Table } from '../ui/table.tsx';

/** Requests that are shown at once; a longer list is opened. */
const MOST_OPEN = 20;

/** What a render found: its warnings first, then what the document asked for, said and was drawn with. */
export function RenderReport({ id, withWarnings }: { id: string; withWarnings: boolean }) {
  const report = useQuery(reportQuery(id));
  if (report.error !== null)
    return (
      <Card title="Report">
        <ErrorNote error={report.error} retry={report.refetch} />
      </Card>
    );
  if (report.data === undefined) return <Loading />;
  const {
    warnings,
    requests,
    console,
    exceptions,
    fonts,
    missingGlyphs,
    picture,
    truncated,
    engine,
    error,
    phases,
    accessibility,
  } = report.data;
  const whole = Math.max(
    1,
    phases.reduce((sum, { ms }) => sum + ms, 0),
    ...requests.map(({ startMs = 0, ms }) => startMs + ms),
  );
  const named = new Set(accessibility.map(({ message }) => message));
  // Where they are said elsewhere, they are not said again.
  const others = withWarnings ? warnings.filter((warning) => !named.has(warning)) : [];
  return (
    <Card title="Report">
      {accessibility.length > 0 && (
        <Table
          caption="Accessibility"
          rows={accessibility.map((fault, i) => ({ ...fault, key: `${i}` }))}
          rowKey={({ key }) => key}
          columns={[
            { title: 'What to mend', cell: ({ message }) => <bdi className="wrap">{message}</bdi> },
            {
              title: 'Element',
              cell: ({ selector }) => selector && <code className="wrap">{selector}</code>,
            },
            { title: 'Page', numeric: true, cell: ({ page }) => page },
            { title: 'In', cell: ({ whose }) => (whose === 'font' ? 'the fonts' : 'the document') },
          ]}
        />
      )}
      {others.length === 0 ? (
        withWarnings && error === null && accessibility.length === 0 && <p>No warnings.</p>
      ) : (
        <ul className="warnings">
          {others.map((warning) => (
            <li key={warning}>
              <bdi>{warning}</bdi>
            </li>
          ))}
        </ul>
      )}
      {requests.length > 0 && (
        <details open={requests.length <= MOST_OPEN}>
          <summary>{counted(requests.length, 'request')}</summary>
          <Table
            caption="Requests"
            rows={requests.map((request, i) => ({ ...request, key: `${i} ${request.url}` }))}
            rowKey={({ key }) => key}
            columns={[
              { title: 'Address', cell: ({ url }) => <bdi className="wrap">{url}</bdi> },
              { title: 'Kind', cell: ({ kind }) => kind },
              { title: 'Outcome', cell: ({ outcome }) => <Badge status={outcome} /> },
              { title: 'Status', cell: ({ status }) => status ?? '' },
              {
                title: 'Why',
                cell: ({ rule, error }) => [rule, error].filter((each) => each !== null).join(', '),
              },
              { title: 'Size', numeric: true, cell: (row) => bytes(row.bytes) },
              { title: 'Took', numeric: true, cell: ({ ms }) => duration(ms) },
              {
                title: 'When',
                cell: ({ startMs, ms }) =>
                  startMs === undefined ? '' : <When from={startMs} ms={ms} whole={whole} />,
              },
            ]}
          />
        </details>
      )}
      {(console.length > 0 || exceptions.length > 0) && (
        <details>
          <summary>Console and exceptions</summary>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard */}
          <pre className="scrolled" tabIndex={0}>
            {[
              ...exceptions.map(({ message, at }) => `${message} (${at})`),
              ...console.map(({ level, text }) => `${level}: ${text}`),
            ].join('\n')}
          </pre>
        </details>
      )}
      {fonts.length > 0 && (
        <ul className="list">
          {fonts.map(({ asked, used }) => (
            <li key={asked.join()}>
              <bdi>{asked.join(', ') || 'No font'}</bdi> requested, <bdi>{familiesOf(used) || 'none'}</bdi>{' '}
              used
            </li>
          ))}
        </ul>
      )}
      {missingGlyphs.length > 0 && (
        <p>
          Characters that no font has:{' '}
          {missingGlyphs
            .map(({ codePoint, page, count }) => `${codePoint} (${count} on page ${page})`)
            .join(', ')}
          .
        </p>
      )}
      {picture !== null && (
        <img
          className="picture"
          src={`data:${picture.mediaType};base64,${picture.data}`}
          alt="The page when it failed"
        />
      )}
      <p className="quiet">
        {engine}
        {truncated.length > 0 && `. Cut short: ${truncated.join(', ')}.`}
      </p>
    </Card>
  );
}

/** When a request was under way, within the time of the whole render: one bar of a waterfall. */
function When({ from, ms, whole }: { from: number; ms: number; whole: number }) {
  const words = `from ${duration(from)} to ${duration(from + ms)} of ${duration(whole)}`;
  return (
    <>
      <svg className="when" viewBox={`0 0 ${whole} 1`} preserveAspectRatio="none" aria-hidden="true">
        <title>{words}</title>
        <rect x="0" width={whole} height="1" className="ground" />
        <rect x={from} width={Math.max(ms, whole / 100)} height="1" />
      </svg>
      <span className="unseen">{words}</span>
    </>
  );
}

function familiesOf(used: readonly { readonly family: string }[]): string {
  return used.map(({ family }) => family).join(', ');
}
