import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { counted } from '../format.ts';
import { remedyOf } from '../remedies.ts';
import { type Render, renderQuery, reportQuery } from '../render-query.ts';
import { Badge } from './bits.tsx';
import { ErrorNote } from './states.tsx';
import { Words } from './words.tsx';

/** Warnings that are shown at once; a longer list is opened. */
const MOST_OPEN = 5;

/** Follows a render to its end. @param id undefined for none. */
export function useRender(id: string | undefined) {
  return useQuery({
    ...renderQuery(id ?? ''),
    enabled: id !== undefined,
    // The hints come within two seconds; whoever waits for a page that takes milliseconds looks sooner.
    refetchInterval: ({ state }) => (state.data?.completedAt === null ? 400 : false),
  });
}

/** Follows a render to its end, and shows its PDF or its error. */
export function RenderOutcome({ id }: { id: string }) {
  const render = useRender(id);
  return (
    <>
      <RenderState id={id} render={render} />
      {render.data?.outputAvailable === true && <PdfFrame id={id} />}
    </>
  );
}

/** How far a render has come, why it has failed, and what its report warns of. */
export function RenderState({ id, render }: { id: string; render: ReturnType<typeof useRender> }) {
  if (render.error !== null) return <ErrorNote error={render.error} retry={render.refetch} />;
  if (render.data === undefined) return null;
  const { status, error } = render.data;
  return (
    <>
      <p>
        <Badge status={status} /> <Link href={`/renders/${id}`}>Details</Link>
      </p>
      <div role="alert">{error !== null && <JobError error={error} />}</div>
      <Warnings render={render.data} />
    </>
  );
}

/** What the report of a render warns of. */
export function Warnings({ render }: { render: Render }) {
  const report = useReport(render);
  if (report.data === undefined) return null;
  const { warnings } = report.data;
  if (warnings.length === 0) return render.error === null ? <p className="quiet">No warnings.</p> : null;
  return (
    <details className="warned" open={warnings.length <= MOST_OPEN}>
      <summary>{counted(warnings.length, 'warning')}</summary>
      <ul className="warnings">
        {warnings.map((warning) => (
          <li key={warning}>
            <bdi>{warning}</bdi>
          </li>
        ))}
      </ul>
    </details>
  );
}

/** The report of a render that has ended; none is asked for before, or without one. */
export function useReport(render: Render | undefined) {
  return useQuery({
    ...reportQuery(render?.jobId ?? ''),
    enabled: render?.reportEndpoint !== undefined && render.completedAt !== null,
  });
}

/** Why a render has failed, and what can be done about it. */
export function JobError({ error: { code, message } }: { error: { code: string; message: string } }) {
  // Loaded with the first failure: most renders have none.
  const remedies = useQuery({
    queryKey: ['remedies'],
    queryFn: async () => (await import('../../../clients/typescript/src/generated/remedies.ts')).REMEDIES,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const remedy = remedyOf(code, remedies.data?.[code]);
  return (
    <div className="note error">
      <p>
        <strong>{code}</strong> <bdi>{message}</bdi>
      </p>
      {remedy !== undefined && (
        <p>
          <Words text={remedy} />
        </p>
      )}
    </div>
  );
}

export function PdfFrame({ id }: { id: string }) {
  return <iframe className="pdf" title="The PDF" src={`/user/renders/${id}/file#navpanes=0&view=FitH`} />;
}
