import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { remedyOf } from '../remedies.ts';
import { renderQuery } from '../render-query.ts';
import { Badge } from './bits.tsx';
import { ErrorNote } from './states.tsx';
import { Words } from './words.tsx';

/** Follows a render to its end, and shows its PDF or its error. */
export function RenderOutcome({ id }: { id: string }) {
  const render = useQuery({
    ...renderQuery(id),
    // The hints come within two seconds; whoever waits for a page that takes milliseconds looks sooner.
    refetchInterval: ({ state }) => (state.data?.completedAt === null ? 400 : false),
  });
  if (render.error !== null) return <ErrorNote error={render.error} retry={render.refetch} />;
  if (render.data === undefined) return null;
  const { status, error, outputAvailable } = render.data;
  return (
    <>
      <p>
        <Badge status={status} /> <Link href={`/renders/${id}`}>Details</Link>
      </p>
      <div role="alert">{error !== null && <JobError error={error} />}</div>
      {outputAvailable && <PdfFrame id={id} />}
    </>
  );
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
