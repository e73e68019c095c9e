import { useQuery } from '@tanstack/react-query';
import { api, call } from '../api.ts';
import { bytes, counted, duration } from '../format.ts';
import { LIVE } from '../live.ts';
import { Badge } from '../ui/bits.tsx';
import { Card } from '../ui/page.tsx';
import { ErrorNote, Loading } from '../ui/states.tsx';
import { Table } from '../ui/table.tsx';

/** What a render found: its warnings first, then what the document asked for, said and was drawn with. */
export function RenderReport({ id }: { id: string }) {
  const report = useQuery({
    queryKey: [LIVE, 'report', id],
    queryFn: () => call(api.GET('/user/renders/{id}/report', { params: { path: { id } } })),
  });
  if (report.error !== null)
    return (
      <Card title="Report">
        <ErrorNote error={report.error} retry={report.refetch} />
      </Card>
    );
  if (report.data === undefined) return <Loading />;
  const { warnings, requests, console, exceptions, fonts, missingGlyphs, picture, truncated, engine, error } =
    report.data;
  return (
    <Card title="Report">
      {warnings.length === 0 ? (
        error === null && <p>No warnings.</p>
      ) : (
        <ul className="warnings">
          {warnings.map((warning) => (
            <li key={warning}>
              <bdi>{warning}</bdi>
            </li>
          ))}
        </ul>
      )}
      {requests.length > 0 && (
        <details>
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

function familiesOf(used: readonly { readonly family: string }[]): string {
  return used.map(({ family }) => family).join(', ');
}
