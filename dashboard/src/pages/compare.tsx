import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { api, call } from '../api.ts';
import { useFilters } from '../filters.ts';
import { bytes, duration, number, shortId, titled } from '../format.ts';
import { LIVE } from '../live.ts';
import { type Render, renderQuery } from '../render-query.ts';
import { SOURCES } from '../statuses.ts';
import { Badge, Time } from '../ui/bits.tsx';
import { Select } from '../ui/field.tsx';
import { Card, Page } from '../ui/page.tsx';
import { PdfFrame } from '../ui/render-outcome.tsx';
import { ErrorNote } from '../ui/states.tsx';

/** Two renders side by side, whose ids are in the address. */
export default function Compare() {
  const [filters, setFilters] = useFilters();
  const [a, b] = [filters.get('a') ?? '', filters.get('b') ?? ''];
  const [first, second] = [useRender(a), useRender(b)];
  return (
    <Page title="Compare renders" lead="Two PDFs side by side. What differs is marked.">
      <div className="filters">
        <Choice label="First" value={a} onChange={(id) => setFilters({ a: id })} />
        <Choice label="Second" value={b} onChange={(id) => setFilters({ b: id })} />
      </div>
      {[first, second].map(
        ({ error, refetch }, i) =>
          error !== null && <ErrorNote key={[a, b][i]} error={error} retry={refetch} />,
      )}
      {first.data !== undefined && second.data !== undefined && (
        <>
          <div className="compared-pdfs">
            {[first.data, second.data].map((render, i) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: a render may be compared with itself
              <Card key={i} title={`${i === 0 ? 'First' : 'Second'}: ${render.fileName}`}>
                {render.outputAvailable ? (
                  <PdfFrame id={render.jobId} />
                ) : (
                  <p className="quiet">There is no PDF of it, or no longer.</p>
                )}
              </Card>
            ))}
          </div>
          <Figures renders={[first.data, second.data]} />
        </>
      )}
    </Page>
  );
}

function useRender(id: string) {
  return useQuery({ ...renderQuery(id), enabled: id !== '' });
}

/** The newest renders, and the one that the address names. */
function Choice({
  label,
  value,
  onChange,
}: {
  label: string;
  value: string;
  onChange: (id: string) => void;
}) {
  const renders = useQuery({
    queryKey: [LIVE, 'renders', 'to compare'],
    queryFn: () => call(api.GET('/user/renders', { params: { query: { status: 'completed', limit: 100 } } })),
  });
  const found = renders.data?.renders ?? [];
  const named =
    found.some(({ jobId }) => jobId === value) || value === '' ? [] : [[value, shortId(value)] as const];
  return (
    <Select
      label={label}
      value={value}
      options={[
        ['', 'Choose a render'],
        ...named,
        ...found.map(({ jobId, fileName }) => [jobId, `${fileName}, ${shortId(jobId)}`] as const),
      ]}
      onChange={onChange}
    />
  );
}

function Figures({ renders }: { renders: readonly [Render, Render] }) {
  const lines: readonly (readonly [name: string, of: (render: Render) => string])[] = [
    ['Pages', ({ pages }) => number(pages)],
    ['Size', ({ pdfSize }) => bytes(pdfSize)],
    ['Rendered in', ({ processingTimeMs }) => duration(processingTimeMs)],
    ['Attempts', ({ attempts }) => number(attempts.length)],
    ['Paper', ({ format }) => format],
    ['Source', ({ inputMode }) => SOURCES[inputMode]],
    ['Template', ({ templateId }) => (templateId === null ? '–' : shortId(templateId))],
    ['Mode', ({ mode }) => titled(mode)],
  ];
  return (
    <Card title="Details">
      <table className="columns">
        <caption className="unseen">Details of both renders</caption>
        <thead>
          <tr>
            <th scope="col">
              <span className="unseen">Detail</span>
            </th>
            <th scope="col">First</th>
            <th scope="col">Second</th>
          </tr>
        </thead>
        <tbody>
          <tr>
            <th scope="row">Render</th>
            {renders.map((render, i) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: as above
              <td key={i}>
                <Link href={`/renders/${render.jobId}`}>{shortId(render.jobId)}</Link>{' '}
                <Badge status={render.status} /> <Time at={render.createdAt} />
              </td>
            ))}
          </tr>
          {lines.map(([name, of]) => {
            const [one, other] = renders.map(of);
            return (
              <tr key={name}>
                <th scope="row">{name}</th>
                {[one, other].map((value, i) => (
                  // biome-ignore lint/suspicious/noArrayIndexKey: as above
                  <td key={i}>{one === other ? value : <mark>{value}</mark>}</td>
                ))}
              </tr>
            );
          })}
        </tbody>
      </table>
    </Card>
  );
}
