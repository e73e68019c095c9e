import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { Link } from 'wouter';
import { remedyOf } from '../remedies.ts';
import { renderQuery } from '../render-query.ts';
import { Badge } from './bits.tsx';
import { ErrorNote } from './states.tsx';
import { Words } from './words.tsx';

/**
 * Follows a render to its end, and shows its PDF or its error.
 *
 * @param keepsLast whether the PDF of the render before stays until this one has its own.
 */
export function RenderOutcome({ id, keepsLast = false }: { id: string; keepsLast?: boolean }) {
  const [last, setLast] = useState<string>();
  const render = useQuery({
    ...renderQuery(id),
    // The hints come within two seconds; whoever waits for a page that takes milliseconds looks sooner.
    refetchInterval: ({ state }) => (state.data?.completedAt === null ? 400 : false),
  });
  const isThere = render.data?.outputAvailable === true;
  useEffect(() => {
    if (isThere) setLast(id);
  }, [isThere, id]);
  if (render.error !== null) return <ErrorNote error={render.error} retry={render.refetch} />;
  const shown = isThere ? id : keepsLast ? last : undefined;
  if (render.data === undefined) return shown === undefined ? null : <PdfFrame id={shown} />;
  const { status, error } = render.data;
  return (
    <>
      <p>
        <Badge status={status} /> <Link href={`/renders/${id}`}>Details</Link>
      </p>
      <div role="alert">{error !== null && <JobError error={error} />}</div>
      {shown !== undefined && <PdfFrame id={shown} />}
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
