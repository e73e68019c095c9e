import { useMutation, useQuery } from '@tanstack/react-query';
import { Play } from 'lucide-react';
import type { ReactNode } from 'react';
import { Link, useLocation } from 'wouter';
import { api, call, type Schemas } from '../api.ts';
import { oneOf, useFilters } from '../filters.ts';
import { bytes, duration, LANGUAGE, number, titled } from '../format.ts';
import { LIVE } from '../live.ts';
import { maySee } from '../navigation.ts';
import { percentile } from '../percentile.ts';
import { PERIOD_OPTIONS, PERIODS } from '../periods.ts';
import { remedyOf } from '../remedies.ts';
import { useAccount } from '../session.tsx';
import { AlertNotices } from '../ui/alert-notices.tsx';
import { Bars } from '../ui/bars.tsx';
import { Time } from '../ui/bits.tsx';
import { Button } from '../ui/button.tsx';
import { Select } from '../ui/field.tsx';
import { IfMayDevelop } from '../ui/if-may.tsx';
import { Latency } from '../ui/latency.tsx';
import { Card, Facts, Page, Tiles } from '../ui/page.tsx';
import { PHASES, Phases, type PhasesMs } from '../ui/phases.tsx';
import { RequestTabs } from '../ui/request-tabs.tsx';
import { ErrorNote, Loading } from '../ui/states.tsx';
import { toastError } from '../ui/toasts.tsx';
import { Words } from '../ui/words.tsx';

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
          options={PERIOD_OPTIONS}
          onChange={(value) => setFilters({ period: value })}
        />
      }
    >
      {usage.error !== null && <ErrorNote error={usage.error} retry={usage.refetch} />}
      {renders.isPending || usage.isPending ? (
        <Loading />
      ) : (
        <>
          <AlertNotices on="overview" />
          {isNew && (
            <IfMayDevelop>
              <FirstRequest />
            </IfMayDevelop>
          )}
          <Numbers usage={usage.data} series={series.data} queue={queue.data} />
          <Throughput series={series} />
        </>
      )}
      <Failures errors={series.data?.errors ?? []} />
    </Page>
  );
}

/** What one looks for first: what is left, what came of the period, and what goes on now. */
function Numbers({
  usage,
  series,
  queue,
}: {
  usage: Usage | undefined;
  series: Series | undefined;
  queue: Schemas['Queue'] | undefined;
}) {
  const { role } = useAccount();
  if (usage === undefined) return <Loading />;
  const count = (pick: (point: Series['points'][number]) => number) =>
    series === undefined ? '–' : number(series.points.reduce((sum, point) => sum + pick(point), 0));
  const renews = new Date(usage.resetDate).toLocaleDateString(LANGUAGE, {
    dateStyle: 'medium',
    timeZone: 'UTC',
  });
  const plan = titled(usage.plan);
  return (
    <Tiles
      tiles={[
        [
          'Renders left',
          number(usage.remaining),
          <>
            {maySee(role, '/billing') ? <Link href="/billing">{plan}</Link> : plan}, renews on {renews}
          </>,
        ],
        ['Renders completed', count(({ success }) => success), 'Single ones and documents of batches'],
        [
          'Renders failed',
          <Link key="failed" href="/renders?status=failed">
            {count(({ failed, refused }) => failed - refused)}
          </Link>,
          <Link key="refused" href="/logs?status=error">
            {count(({ refused }) => refused)} requests rejected
          </Link>,
        ],
        [
          'Running now',
          queue === undefined ? '–' : number(queue.inFlight),
          queue !== undefined && <Waiting queue={queue} />,
        ],
      ]}
    />
  );
}

function Waiting({ queue: { waiting, concurrentRenders, oldestWaitingAt } }: { queue: Schemas['Queue'] }) {
  return (
    <>
      of at most {number(concurrentRenders)}, {number(waiting)} waiting
      {oldestWaitingAt !== null && (
        <>
          {' '}
          since <Time at={oldestWaitingAt} />
        </>
      )}
    </>
  );
}

function useQueue() {
  return useQuery({ queryKey: [LIVE, 'queue'], queryFn: () => call(api.GET('/user/queue')) });
}

type Period = (typeof PERIODS)[number];

type Usage = Schemas['UsageSummary'];
type Series = Schemas['UsageSeries'];

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
      LANGUAGE,
      interval === 'hour' ? { dateStyle: 'short', timeStyle: 'short' } : { dateStyle: 'short' },
    );
  const bars = points.map(({ at, success, failed, refused }) => ({
    at,
    good: success,
    bad: failed - refused,
  }));
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
          ['Median time', took(percentile(durationBoundsMs, counts, 0.5))],
          ['95th percentile', took(percentile(durationBoundsMs, counts, 0.95))],
          ['Pages', number(total(({ pages }) => pages))],
          ['PDFs', bytes(total((point) => point.bytes))],
        ]}
      />
      {rendered > 0 && (
        <>
          <h3>How long renders took</h3>
          <Latency points={points} bounds={durationBoundsMs} interval={interval} label={label} />
          <h3>Where the time goes, on average</h3>
          <Phases phases={Object.fromEntries(means) as PhasesMs} />
        </>
      )}
    </Card>
  );
}

function took(found: ReturnType<typeof percentile>): string {
  if (found === undefined) return '–';
  return `${found.isLonger ? 'more than' : 'about'} ${duration(found.ms)}`;
}

function Failures({ errors }: { errors: Series['errors'] }) {
  const failed = errors.map((error) => ({ ...error, count: error.count - error.refused }));
  const refused = errors.map((error) => ({ ...error, count: error.refused }));
  return (
    <>
      <Codes title="Failed renders" errors={failed} href="/renders?error=">
        <Link href="/renders?status=failed">See the failed renders</Link>
      </Codes>
      <Codes title="Rejected requests" errors={refused}>
        <Link href="/logs?status=error">See them in the request log</Link>
      </Codes>
    </>
  );
}

/** What went wrong, by code, and what can be done about it. */
function Codes({
  title,
  errors,
  href,
  children,
}: {
  title: string;
  /** Where those of one code are, which is put at the end. */
  href?: string;
  errors: readonly { readonly code: string; readonly count: number; readonly remedy: string }[];
  children: ReactNode;
}) {
  const shown = errors.filter(({ count }) => count > 0).sort((a, b) => b.count - a.count);
  if (shown.length === 0) return null;
  return (
    <Card title={title}>
      <ul className="list codes">
        {shown.map(({ code, count, remedy }) => (
          <li key={code}>
            <strong>{number(count)}</strong>{' '}
            {href === undefined ? code : <Link href={`${href}${code}`}>{code}</Link>}
            <br />
            <span className="quiet">
              <Words text={remedyOf(code, remedy) ?? ''} />
            </span>
          </li>
        ))}
      </ul>
      <p>{children}</p>
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
        <Link href="/keys">create an API key</Link> and send it yourself.
      </p>
      <RequestTabs body={FIRST_REQUEST} />
      <Button kind="primary" icon={Play} busy={run.isPending} onClick={() => run.mutate()}>
        Run it now
      </Button>
    </Card>
  );
}
