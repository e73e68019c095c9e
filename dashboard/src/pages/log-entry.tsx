import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { api, call, type Schemas } from '../api.ts';
import { bytes, duration } from '../format.ts';
import { Badge, Code, Time } from '../ui/bits.tsx';
import { Facts } from '../ui/page.tsx';
import { ErrorNote, Loading } from '../ui/states.tsx';

type Logged = Schemas['LoggedRequest'];
type Side = Schemas['LoggedSide'];

/** One request of the log: what was sent and what was answered, and the same request as a command. */
export function LogEntry({ id, placeOf }: { id: string; placeOf: (entry: Logged) => string | undefined }) {
  const entry = useQuery({
    queryKey: ['log', id],
    queryFn: () => call(api.GET('/user/request-logs/{id}', { params: { path: { id } } })),
  });
  if (entry.error !== null) return <ErrorNote error={entry.error} retry={entry.refetch} />;
  if (entry.data === undefined) return <Loading />;
  const { method, endpoint, status, statusCode, durationMs, createdAt, errorReason, said } = entry.data;
  const place = placeOf(entry.data);
  return (
    <>
      <p>
        <code>
          {method} {said?.path ?? endpoint}
        </code>
      </p>
      <Facts
        facts={[
          [
            'Status',
            <span key="s">
              <Badge status={status} /> {statusCode}
            </span>,
          ],
          ['Time', <Time key="t" at={createdAt} />],
          ...(durationMs === null ? [] : [['Duration', duration(durationMs)] as const]),
          ...(errorReason === null ? [] : [['Error', <code key="e">{errorReason}</code>] as const]),
          ...(place === undefined
            ? []
            : [
                [
                  'Result',
                  <Link key="r" href={place}>
                    Open
                  </Link>,
                ] as const,
              ]),
        ]}
      />
      {said === null ? (
        <p className="quiet">Its headers and body are not kept, or no longer.</p>
      ) : (
        <>
          <SideOf title="Request" side={said.request} />
          <SideOf title="Response" side={said.response} />
          <Code label="As curl" text={curlOf(method ?? 'POST', said)} />
          <p className="quiet">
            Secrets are shown as ***, and long values are cut. Kept until <Time at={said.keptUntil} exact />.
          </p>
        </>
      )}
    </>
  );
}

function SideOf({ title, side: { headers, body } }: { title: string; side: Side }) {
  return (
    <section>
      <h3>{title}</h3>
      {body !== null &&
        (body.text === null ? (
          <p>
            {body.type ?? 'A body'}
            {body.size !== null && `, ${bytes(body.size)}`}
          </p>
        ) : (
          <Code label={body.isWhole ? 'Body' : 'Body, shortened'} text={body.text} />
        ))}
      <details>
        <summary>Headers</summary>
        <Code
          label="Headers"
          text={headers.map(({ name, value }) => `${name}: ${value}`).join('\n') || 'None'}
        />
      </details>
    </section>
  );
}

/** The same request for a shell, with a placeholder for the key. */
function curlOf(method: string, { path, request: { body } }: NonNullable<Logged['said']>): string {
  // The dashboard's own routes take no key.
  const address = `${window.location.origin}${path.replace(/^\/user\/(renders|batches)$/, (_, kind) => (kind === 'renders' ? '/v1/pdf' : '/v1/pdf/batch'))}`;
  const lines = [`curl -X ${method} '${address}'`, `-H "X-API-Key: $PLATEN_API_KEY"`];
  if (body !== null && body.text !== null) {
    lines.push("-H 'Content-Type: application/json'");
    lines.push(`--data '${body.text.replaceAll("'", String.raw`'\''`)}'`);
  } else if (body !== null)
    lines.push(`-H 'Content-Type: ${body.type ?? 'application/octet-stream'}'`, '--data-binary @body');
  return lines.join(' \\\n  ');
}
