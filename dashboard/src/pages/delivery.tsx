import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { RotateCw } from 'lucide-react';
import { Link } from 'wouter';
import { api, call, type Schemas } from '../api.ts';
import { duration } from '../format.ts';
import { LIVE } from '../live.ts';
import { useMayDevelop } from '../session.tsx';
import { Badge, Code, Time } from '../ui/bits.tsx';
import { Button } from '../ui/button.tsx';
import { Facts } from '../ui/page.tsx';
import { ErrorNote, Loading } from '../ui/states.tsx';
import { toast, toastError } from '../ui/toasts.tsx';

type Attempt = Schemas['WebhookDeliveryDetail']['attempts'][number];

/** One callback: what was sent, what the receiver answered each time, and when it is tried again. */
export function Delivery({ id }: { id: string }) {
  const queries = useQueryClient();
  const mayChange = useMayDevelop();
  const path = { params: { path: { id } } };
  const delivery = useQuery({
    queryKey: [LIVE, 'delivery', id],
    queryFn: () => call(api.GET('/user/webhook-deliveries/{id}', path)),
  });
  const again = useMutation({
    mutationFn: () => call(api.POST('/user/webhook-deliveries/{id}/redeliver', path)),
    onSuccess: () => {
      toast('Sending it again.');
      void queries.invalidateQueries({ queryKey: [LIVE] });
    },
    onError: toastError,
  });
  if (delivery.error !== null) return <ErrorNote error={delivery.error} retry={delivery.refetch} />;
  if (delivery.data === undefined) return <Loading />;
  const { attempts, payload, jobId, event, status, url, createdAt, nextAttemptAt } = delivery.data;
  return (
    <>
      <Facts
        facts={[
          ['Event', <code key="e">{event}</code>],
          ['Status', <Badge key="s" status={status} />],
          ['Created', <Time key="c" at={createdAt} />],
          ...(nextAttemptAt === null ? [] : [['Next try', <Time key="n" at={nextAttemptAt} />] as const]),
        ]}
      />
      <p>
        To <bdi className="wrap">{url}</bdi>
      </p>
      <div className="actions">
        {mayChange && (
          <Button icon={RotateCw} busy={again.isPending} onClick={() => again.mutate()}>
            Send again
          </Button>
        )}
        {event.startsWith('render.') && <Link href={`/renders/${jobId}`}>Open the render</Link>}
        {event.startsWith('batch.') && <Link href={`/batches/${jobId}`}>Open the batch</Link>}
      </div>
      <h3>Attempts</h3>
      {attempts.length === 0 && <p className="quiet">Not tried yet.</p>}
      <ol className="list rows attempts">
        {attempts.toReversed().map((attempt, i) => (
          <AttemptOf key={attempt.at} attempt={attempt} isLast={i === 0} />
        ))}
      </ol>
      <Code label="What was sent" text={JSON.stringify(payload, null, 2)} />
    </>
  );
}

function AttemptOf({ attempt, isLast }: { attempt: Attempt; isLast: boolean }) {
  const { at, responseStatus, error, durationMs, response } = attempt;
  return (
    <li>
      <span>
        <Time at={at} />
      </span>
      <span>
        {error?.replace(/\.$/, '') ?? `Responded with ${responseStatus}`}
        {durationMs !== null && ` after ${duration(durationMs)}`}
      </span>
      {response !== null && (
        <details open={isLast}>
          <summary>Response</summary>
          <Code
            label="Headers"
            text={response.headers.map(({ name, value }) => `${name}: ${value}`).join('\n') || 'None'}
          />
          <Code
            label={response.bodyIsCut ? 'Body, the first 2 KiB' : 'Body'}
            text={response.body ?? 'This is not text.'}
          />
        </details>
      )}
    </li>
  );
}
