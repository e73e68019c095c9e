import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { api, call } from '../api.ts';
import { counted, money, number } from '../format.ts';
import { LIVE } from '../live.ts';
import { maySee } from '../navigation.ts';
import { useAccount } from '../session.tsx';
import { Time } from './bits.tsx';

type Alerts = Awaited<ReturnType<typeof ALERTS_QUERY.queryFn>>;

const ALERTS_QUERY = { queryKey: [LIVE, 'alerts'], queryFn: () => call(api.GET('/user/alerts')) };
const HOUR_MS = 3_600_000;
/** Addresses that are shown; there are 20 at most. */
const MOST_ADDRESSES = 3;

/** What is the matter with the quota and with money, and with renders and callbacks where `on` is the overview. */
export function AlertNotices({ on }: { on: 'overview' | 'billing' }) {
  const alerts = useQuery(ALERTS_QUERY);
  if (alerts.data === undefined) return null;
  const { quota, spend, failures, webhooks } = alerts.data;
  const isOverview = on === 'overview';
  return (
    <div className="notices" role="status">
      {quota.reached > 0 && <QuotaNotice quota={quota} on={on} />}
      {spend !== null && spend.reached > 0 && <SpendNotice spend={spend} on={on} />}
      {isOverview && failures !== null && <FailureNotice failures={failures} />}
      {isOverview &&
        webhooks.slice(0, MOST_ADDRESSES).map((webhook) => <WebhookNotice key={webhook.url} {...webhook} />)}
      {isOverview && webhooks.length > MOST_ADDRESSES && (
        <p className="note error">
          Callbacks do not arrive elsewhere either: {counted(webhooks.length, 'webhook')} in all.
        </p>
      )}
    </div>
  );
}

function Notice({ title, isBad, children }: { title: string; isBad: boolean; children: ReactNode }) {
  return (
    <p className={isBad ? 'note error' : 'note'}>
      <strong>{title}</strong> {children}
    </p>
  );
}

function QuotaNotice({ quota, on }: { quota: Alerts['quota']; on: 'overview' | 'billing' }) {
  const { role } = useAccount();
  const { used, limit, left, percent, renewsAt, beyond } = quota;
  const isOver = percent >= 100;
  const buys = beyond === 'bought';
  const title = !isOver
    ? `${percent} % of your renders are used.`
    : buys
      ? 'All renders of your plan are used.'
      : 'Your renders are used up.';
  const then = buys
    ? 'Blocks of renders are bought automatically, up to your cap.'
    : isOver
      ? 'Until then live renders are rejected.'
      : 'When they are used up, live renders are rejected until then.';
  return (
    <Notice title={title} isBad={isOver && !buys}>
      {number(used)} of {number(limit)}, {number(left)} left. They renew on <Time at={renewsAt} exact />.{' '}
      {then}{' '}
      {maySee(role, '/billing') ? (
        <Act on={on} anchor={buys ? 'overage' : 'plans'}>
          {buys ? 'See the cap' : 'Get more renders'}
        </Act>
      ) : (
        'Ask the owner of the account for more.'
      )}
    </Notice>
  );
}

function SpendNotice({ spend, on }: { spend: NonNullable<Alerts['spend']>; on: 'overview' | 'billing' }) {
  const { spentCents, capCents, percent } = spend;
  const isOver = percent >= 100;
  return (
    <Notice
      title={isOver ? 'The cap of automatic overage is reached.' : `${percent} % of the cap is spent.`}
      isBad={isOver}
    >
      {money(spentCents)} of {money(capCents)} in this billing period.{' '}
      {isOver
        ? 'No more blocks are bought: when the renders that are left are used up, live renders are rejected.'
        : 'Once it is reached, no more blocks are bought.'}{' '}
      <Act on={on} anchor="overage">
        Raise the cap
      </Act>
    </Notice>
  );
}

/** The one thing that helps, which is on the page Billing. */
function Act({ on, anchor, children }: { on: 'overview' | 'billing'; anchor: string; children: string }) {
  return on === 'billing' ? <a href={`#${anchor}`}>{children}</a> : <Link href="/billing">{children}</Link>;
}

function FailureNotice({ failures }: { failures: NonNullable<Alerts['failures']> }) {
  const { hour, renders, failed, codes } = failures;
  const to = new Date(Date.parse(hour) + HOUR_MS).toISOString();
  const [first] = codes;
  const query = new URLSearchParams({
    status: 'failed',
    from: hour,
    to,
    ...(first && { error: first.code }),
  });
  return (
    <Notice title="Many renders fail." isBad>
      {number(failed)} of {number(renders)} in the hour from <Time at={hour} exact />:{' '}
      {codes.map(({ code, count }) => `${code} (${number(count)})`).join(', ')}.{' '}
      <Link href={`/renders?${query}`}>See the failed renders</Link>
    </Notice>
  );
}

function WebhookNotice({ url, since, lastStatus, lastError, nextAttemptAt }: Alerts['webhooks'][number]) {
  return (
    <Notice title="A webhook does not respond." isBad>
      <bdi className="wrap">{url}</bdi> has failed since <Time at={since} exact />:{' '}
      {lastError ?? `status ${lastStatus}.`}{' '}
      {nextAttemptAt !== null && (
        <>
          The next attempt is due <Time at={nextAttemptAt} exact />.{' '}
        </>
      )}
      <Link href="/webhooks">See the deliveries</Link>
    </Notice>
  );
}
