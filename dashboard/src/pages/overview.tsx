import { useMutation, useQuery } from '@tanstack/react-query';
import { Link, useLocation } from 'wouter';
import { api, call } from '../api.ts';
import { oneOf, useFilters } from '../filters.ts';
import { bytes, duration, number } from '../format.ts';
import { LIVE } from '../live.ts';
import { PERIODS } from '../periods.ts';
import { useAccount } from '../session.tsx';
import { Bars } from '../ui/bars.tsx';
import { Time } from '../ui/bits.tsx';
import { Button } from '../ui/button.tsx';
import { Select } from '../ui/field.tsx';
import { Card, Facts, Page } from '../ui/page.tsx';
import { PHASES, Phases, type PhasesMs } from '../ui/phases.tsx';
import { RequestTabs } from '../ui/request-tabs.tsx';
import { ErrorNote, Loading } from '../ui/states.tsx';
import { toastError } from '../ui/toasts.tsx';

const FIRST_REQUEST = { html: '<h1>Hello</h1><p>My first document.</p>' };

export default function Overview() {
  const [filters, setFilters] = useFilters();
  const period = oneOf(filters.get('period'), PERIODS) ?? '7d';
  const usage = useQuery({
    queryKey: [LIVE, 'usage', period],
    queryFn: () => call(api.GET('/user/usage', { params: { query: { period } } })),
  });
  const renders = useQuery({
    queryKey: [LIVE, 'renders', 'any'],
    queryFn: () => call(api.GET('/user/renders', { params: { query: { limit: 1 } } })),
  });
  // Asked for with the rest, not once that has come.
  const queue = useQueue();
  const series = useSeries(period);
  const isNew = renders.data?.total === 0 && usage.data?.totalRequests === 0;
  return (
    <Page
      title="Overview"
      actions={
        <Select
          label="Period"
          value={period}
          options={[
            ['1d', '24 hours'],
            ['7d', '7 days'],
            ['30d', '30 days'],
            ['90d', '90 days'],
          ]}
          onChange={(value) => setFilters({ period: value })}
        />
      }
    >
      {usage.error !== null && <ErrorNote error={usage.error} retry={usage.refetch} />}
      {renders.isPending || usage.isPending ? (
        <Loading />
      ) : (
        <>
          {isNew && <FirstRequest />}
          <div className="grid">
            <Quota usage={usage.data} />
            <Queue queue={queue} />
          </div>
          <Throughput series={series} />
        </>
      )}
      <Failures errors={series.data?.errors ?? []} />
    </Page>
  );
}

function Quota({
  usage,
}: {
  usage:
    | {
        remaining: number;
        plan: string;
        resetDate: string;
        totalRequests: number;
        successCount: number;
        failedCount: number;
      }
    | undefined;
}) {
  if (usage === undefined) return <Loading />;
  return (
    <Card title="Plan">
      <Facts
        facts={[
          [
            'Plan',
            <Link key="plan" href="/billing">
              {usage.plan}
            </Link>,
          ],
          ['Renders left', number(usage.remaining)],
          ['Counted anew on', new Date(usage.resetDate).toLocaleDateString(undefined, { timeZone: 'UTC' })],
          ['Requests in this period', number(usage.totalRequests)],
          ['Completed', number(usage.successCount)],
          ['Failed', number(usage.failedCount)],
        ]}
      />
    </Card>
  );
}

function useQueue() {
  return useQuery({ queryKey: [LIVE, 'queue'], queryFn: () => call(api.GET('/user/queue')) });
}

function Queue({ queue }: { queue: ReturnType<typeof useQueue> }) {
  if (queue.data === undefined) return <Loading />;
  const { inFlight, waiting, concurrentRenders, oldestWaitingAt } = queue.data;
  return (
    <Card title="Now">
      <Facts
        facts={[
          ['Running', `${number(inFlight)} of ${number(concurrentRenders)} at once`],
          ['Waiting', number(waiting)],
          ...(oldestWaitingAt === null
            ? []
            : [['Waiting since', <Time key="t" at={oldestWaitingAt} />] as const]),
        ]}
      />
      <progress max={concurrentRenders} value={inFlight} aria-label="Plan slots in use" />
    </Card>
  );
}

type Period = (typeof PERIODS)[number];

type FailedCode = NonNullable<ReturnType<typeof useSeries>['data']>['errors'][number];

function useSeries(period: Period) {
  const interval = period === '1d' || period === '7d' ? ('hour' as const) : ('day' as const);
  const query = { period, interval };
  return useQuery({
    queryKey: [LIVE, 'series', period],
    queryFn: () => call(api.GET('/user/usage/series', { params: { query } })),
  });
}

function Throughput({ series }: { series: ReturnType<typeof useSeries> }) {
  if (series.error !== null) return <ErrorNote error={series.error} retry={series.refetch} />;
  if (series.data === undefined) return <Loading />;
  const { interval, points, durationBoundsMs } = series.data;
  const label = (at: string) =>
    new Date(at).toLocaleString(
      undefined,
      interval === 'hour' ? { dateStyle: 'short', timeStyle: 'short' } : { dateStyle: 'short' },
    );
  const bars = points.map(({ at, success, failed }) => ({ at, good: success, bad: failed }));
  // One bin more than there are bounds: of those that took longer.
  const counts = [...durationBoundsMs, Number.POSITIVE_INFINITY].map((_, i) =>
    points.reduce((sum, { durations }) => sum + (durations[i] ?? 0), 0),
  );
  const total = (pick: (point: (typeof points)[number]) => number) =>
    points.reduce((sum, point) => sum + pick(point), 0);
  const rendered = counts.reduce((sum, count) => sum + count, 0);
  const means = PHASES.map((phase) => [phase, total(({ phasesMs }) => phasesMs[phase]) / rendered]);
  return (
    <Card title="Renders over time">
      <Bars title="Renders over time" bars={bars} label={label} />
      <Facts
        facts={[
          ['Half were done within', percentile(durationBoundsMs, counts, 0.5)],
          ['95 of 100 within', percentile(durationBoundsMs, counts, 0.95)],
          ['Pages', number(total(({ pages }) => pages))],
          ['PDFs', bytes(total((point) => point.bytes))],
        ]}
      />
      {rendered > 0 && (
        <>
          <h3>Where the time of a render went, on average</h3>
          <Phases phases={Object.fromEntries(means) as PhasesMs} />
        </>
      )}
    </Card>
  );
}

/** The bound of the bin that a share of all falls into: as exact as the bins are. */
function percentile(bounds: readonly number[], counts: readonly number[], share: number): string {
  const all = counts.reduce((sum, count) => sum + count, 0);
  if (all === 0) return '–';
  let seen = 0;
  for (const [i, bound] of bounds.entries()) {
    seen += counts[i] ?? 0;
    if (seen >= all * share) return duration(bound);
  }
  return `more than ${duration(bounds.at(-1) ?? 0)}`;
}

function Failures({ errors }: { errors: readonly FailedCode[] }) {
  if (errors.length === 0) return null;
  return (
    <Card title="What failed, and what to do">
      <ul className="list">
        {errors.map(({ code, count, remedy, docsUrl }) => (
          <li key={code}>
            <strong>{number(count)}</strong> <a href={docsUrl}>{code}</a>
            <br />
            {remedy}
          </li>
        ))}
      </ul>
      <p>
        <Link href="/renders?status=failed">See the renders that failed</Link>. Requests that were refused are
        in the <Link href="/logs?status=error">request log</Link>.
      </p>
    </Card>
  );
}

function FirstRequest() {
  const account = useAccount();
  const [, navigate] = useLocation();
  const run = useMutation({
    mutationFn: () => call(api.POST('/user/renders', { body: { ...FIRST_REQUEST, mode: 'test' } })),
    onSuccess: ({ jobId }) => navigate(`/renders/${jobId}`),
    onError: toastError,
  });
  return (
    <Card title="Your first document">
      <p>
        Welcome{account.email === null ? '' : `, ${account.email}`}. This request makes a PDF. Run it here, or{' '}
        <Link href="/keys">make an API key</Link> and send it yourself.
      </p>
      <RequestTabs body={FIRST_REQUEST} />
      <Button kind="primary" busy={run.isPending} onClick={() => run.mutate()}>
        Run it now
      </Button>
    </Card>
  );
}
