import { type UseQueryResult, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Check } from 'lucide-react';
import { useEffect, useState } from 'react';
import { useSearchParams } from 'wouter';
import { api, call } from '../api.ts';
import { bytes, duration, hours, money, number, titled } from '../format.ts';
import { LIVE } from '../live.ts';
import { AlertNotices } from '../ui/alert-notices.tsx';
import { Time } from '../ui/bits.tsx';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Icon } from '../ui/icon.tsx';
import { Card, Page } from '../ui/page.tsx';
import { ErrorNote, Loading } from '../ui/states.tsx';
import { toast, toastError } from '../ui/toasts.tsx';
import { AutoOverage } from './auto-overage.tsx';
import { Blocks, PeriodSoFar } from './bill.tsx';
import { Invoices } from './invoices.tsx';

type Plan = Awaited<ReturnType<typeof fetchPlans>>['plans'][number];
type Subscription = Awaited<ReturnType<typeof fetchSubscription>>;
type SoldPlan = 'starter' | 'professional' | 'business';

/** How often the plan is asked for after a change of it, until its payment has been heard of, which takes seconds. */
const WAIT_MS = 2000;

export default function Billing() {
  const queries = useQueryClient();
  const [params] = useSearchParams();
  const fromCheckout = params.get('checkout') === 'done';
  /** The plan that was changed to here, without a page of Stripe. */
  const [changedTo, setChangedTo] = useState<string>();
  const isBehind = (data: Subscription | undefined) =>
    changedTo === undefined ? fromCheckout && data?.status === 'none' : data?.plan !== changedTo;
  const subscription = useQuery({
    queryKey: ['subscription'],
    queryFn: fetchSubscription,
    refetchInterval: ({ state }) => (isBehind(state.data) ? WAIT_MS : false),
  });
  const plan = changedTo ?? (fromCheckout ? subscription.data?.plan : undefined);
  const plans = useQuery({
    queryKey: ['plans'],
    queryFn: fetchPlans,
    refetchInterval: ({ state }) => (plan !== undefined && state.data?.current !== plan ? WAIT_MS : false),
  });
  /** Without a provider of payments no plan is sold. */
  const isSold = plans.data?.plans.some(({ sold }) => sold) === true;
  const waits = isBehind(subscription.data) || (plan !== undefined && plans.data?.current !== plan);
  // The invoice of a change comes with its payment.
  // biome-ignore lint/correctness/useExhaustiveDependencies: once that has been heard of
  useEffect(() => {
    if (!waits) {
      void queries.invalidateQueries({ queryKey: ['invoices'] });
      void queries.invalidateQueries({ queryKey: [LIVE, 'bill'] });
    }
  }, [waits]);
  return (
    <Page title="Billing" actions={isSold && <Portal />}>
      {params.get('autoOverageDisabled') === '1' && (
        <p className="note good" role="status">
          Automatic overage is off. No more blocks are bought automatically.
        </p>
      )}
      {params.get('autoOverageDisabled') === '0' && (
        <p className="note error" role="alert">
          The link could not turn automatic overage off: it has been used or has expired. Turn it off below.
        </p>
      )}
      {params.get('overage') === 'done' && (
        <p className="note good" role="status">
          Thank you. You can use the renders as soon as the payment is confirmed, which takes a few seconds.
        </p>
      )}
      {waits ? (
        <p className="note" role="status">
          Thank you. The payment is being confirmed; your new plan starts in a few seconds.
        </p>
      ) : (
        plan !== undefined && (
          <p className="note good" role="status">
            You are on {titled(plan)} now.
          </p>
        )
      )}
      {subscription.error !== null && <ErrorNote error={subscription.error} retry={subscription.refetch} />}
      <AlertNotices on="billing" />
      {plans.data !== undefined && <PeriodSoFar isSold={isSold} />}
      {subscription.data !== undefined && (
        <Running subscription={subscription.data} onKept={() => void plans.refetch()} />
      )}
      <Plans
        plans={plans}
        subscribed={subscription.data !== undefined && subscription.data.status !== 'none'}
        onChanged={(to) => {
          setChangedTo(to);
          void subscription.refetch();
          void plans.refetch();
          void queries.invalidateQueries({ queryKey: ['invoices'] });
          void queries.invalidateQueries({ queryKey: [LIVE, 'bill'] });
        }}
      />
      {plans.data !== undefined && !isSold && (
        <p className="quiet">
          This installation sells nothing. Ask whoever runs it for another plan or more renders.
        </p>
      )}
      {isSold && <Blocks />}
      {isSold && subscription.data !== undefined && <AutoOverage subscription={subscription.data} />}
      <Invoices />
    </Page>
  );
}

function Portal() {
  const open = useMutation({
    mutationFn: () => call(api.GET('/user/billing-portal')),
    onSuccess: ({ url }) => window.location.assign(url),
    onError: toastError,
  });
  return (
    <Button busy={open.isPending} onClick={() => open.mutate()}>
      Payment methods and billing address
    </Button>
  );
}

/** @param onKept is called once a scheduled change of plan is taken back. */
function Running({ subscription, onKept }: { subscription: Subscription; onKept: () => void }) {
  const queries = useQueryClient();
  const [asks, setAsks] = useState(false);
  const reload = () => {
    void queries.invalidateQueries({ queryKey: ['subscription'] });
    void queries.invalidateQueries({ queryKey: [LIVE, 'bill'] });
  };
  const cancel = useMutation({
    mutationFn: () => call(api.POST('/user/subscription/cancel')),
    onSuccess: () => {
      setAsks(false);
      reload();
    },
    onError: toastError,
  });
  const resume = useMutation({
    mutationFn: () => call(api.POST('/user/subscription/resume')),
    onSuccess: reload,
    onError: toastError,
  });
  const keep = useMutation({
    mutationFn: () => call(api.POST('/user/checkout', { body: { plan: subscription.plan as SoldPlan } })),
    onSuccess: () => {
      toast(`You keep ${titled(subscription.plan ?? '')}.`);
      reload();
      onKept();
    },
    onError: toastError,
  });
  const { status, plan, currentPeriodEnd, cancelAtPeriodEnd, scheduledPlan, scheduledPlanEffectiveDate } =
    subscription;
  if (status === 'none') return null;
  return (
    <Card title="Subscription" lead={`${titled(plan ?? '')}, ${status.replaceAll('_', ' ')}.`}>
      <p>
        {cancelAtPeriodEnd ? 'It ends on ' : 'It renews on '}
        <Time at={currentPeriodEnd} exact />.
        {scheduledPlan !== undefined && (
          <>
            {' '}
            Then you have {titled(scheduledPlan)}, from <Time at={scheduledPlanEffectiveDate} exact />.
          </>
        )}
      </p>
      {cancelAtPeriodEnd ? (
        <Button kind="primary" busy={resume.isPending} onClick={() => resume.mutate()}>
          Keep subscription
        </Button>
      ) : (
        <span className="actions">
          {scheduledPlan !== undefined && (
            <Button kind="primary" busy={keep.isPending} onClick={() => keep.mutate()}>
              Keep {titled(plan ?? '')}
            </Button>
          )}
          <Button onClick={() => setAsks(true)}>Cancel subscription</Button>
        </span>
      )}
      <Dialog title="Cancel your subscription?" open={asks} onClose={() => setAsks(false)}>
        <p>
          Your plan stays active until <Time at={currentPeriodEnd} exact />. You can undo this until then.
        </p>
        <Button kind="danger" busy={cancel.isPending} onClick={() => cancel.mutate()}>
          Cancel subscription
        </Button>
      </Dialog>
    </Card>
  );
}

/** @param onChanged is called with the plan that will soon be in force, or without one where a lower plan follows later. */
function Plans({
  plans,
  subscribed,
  onChanged,
}: {
  plans: UseQueryResult<Awaited<ReturnType<typeof fetchPlans>>>;
  subscribed: boolean;
  onChanged: (plan?: string) => void;
}) {
  const [chosen, setChosen] = useState<Plan>();
  const price = plans.data?.plans.find(({ current }) => current)?.priceCentsPerMonth ?? 0;
  const isUpgrade = (plan: Plan) => plan.priceCentsPerMonth >= price;
  if (plans.error !== null) return <ErrorNote error={plans.error} retry={plans.refetch} />;
  if (plans.data === undefined) return <Loading />;
  return (
    <section aria-labelledby="plans">
      <h2 id="plans">Plans</h2>
      <div className="plans">
        {plans.data.plans.map((plan) => (
          <article key={plan.name} className={plan.current ? 'card current' : 'card'}>
            <header>
              <h3>{titled(plan.name)}</h3>
              {plan.current && <span className="badge good">Your plan</span>}
            </header>
            <p className="price">
              {money(plan.priceCentsPerMonth)} <span className="quiet">a month</span>
            </p>
            <ul className="list ticked">
              {featuresOf(plan).map((feature) => (
                <li key={feature}>
                  <Icon of={Check} />
                  {feature}
                </li>
              ))}
            </ul>
            {plan.sold && !plan.current && (
              <Button kind={isUpgrade(plan) ? 'primary' : 'plain'} onClick={() => setChosen(plan)}>
                {isUpgrade(plan) ? 'Upgrade' : 'Downgrade'}
                <span className="unseen"> to {titled(plan.name)}</span>
              </Button>
            )}
          </article>
        ))}
      </div>
      <Dialog
        title={`${chosen !== undefined && isUpgrade(chosen) ? 'Upgrade' : 'Downgrade'} to ${titled(chosen?.name ?? '')}`}
        open={chosen !== undefined}
        onClose={() => setChosen(undefined)}
      >
        {chosen !== undefined && (
          <>
            <Differences from={plans.data.plans.find(({ current }) => current)} to={chosen} />
            <Change
              plan={chosen.name as SoldPlan}
              subscribed={subscribed}
              onChanged={(plan) => {
                setChosen(undefined);
                onChanged(plan);
              }}
            />
          </>
        )}
      </Dialog>
    </section>
  );
}

function retention({ limits: { retentionHours } }: Plan): string {
  return retentionHours === 0 ? 'until they are delivered' : `for ${hours(retentionHours)}`;
}

/** What a plan has, as people read it. */
function featuresOf(plan: Plan): readonly string[] {
  const { features, ...limits } = plan.limits;
  return [
    `${number(limits.monthlyRenders)} renders a month`,
    `${number(limits.concurrentRenders)} at the same time`,
    `${number(limits.requestsPerMinute)} requests a minute`,
    `PDFs up to ${bytes(limits.maxOutputSizeBytes)}`,
    `Up to ${duration(limits.maxTimeoutMs)} per render`,
    `PDFs kept ${retention(plan)}`,
    ...(features.callbacks ? ['Webhooks'] : []),
    ...(features.templateVersions ? ['Template versions'] : []),
  ];
}

/** What one plan has and another has not, as people compare plans. */
const LIMITS: readonly (readonly [name: string, value: (plan: Plan) => string])[] = [
  ['Price a month', (plan) => money(plan.priceCentsPerMonth)],
  ['Renders a month', ({ limits }) => number(limits.monthlyRenders)],
  ['At the same time', ({ limits }) => number(limits.concurrentRenders)],
  ['Requests a minute', ({ limits }) => number(limits.requestsPerMinute)],
  ['API keys', ({ limits }) => number(limits.maxActiveKeys)],
  ['Documents in a batch', ({ limits }) => number(limits.maxBatchItems)],
  ['Largest PDF', ({ limits }) => bytes(limits.maxOutputSizeBytes)],
  ['Longest render', ({ limits }) => duration(limits.maxTimeoutMs)],
  ['PDFs are kept', retention],
  ['Webhooks', ({ limits }) => (limits.features.callbacks ? 'Yes' : 'No')],
  ['Template versions', ({ limits }) => (limits.features.templateVersions ? 'Yes' : 'No')],
];

/** What a change of plan changes. */
function Differences({ from, to }: { from: Plan | undefined; to: Plan }) {
  if (from === undefined) return null;
  const changed = LIMITS.filter(([, value]) => value(from) !== value(to));
  return (
    <table className="columns">
      <thead>
        <tr>
          <th scope="col">What changes</th>
          <th scope="col">{titled(from.name)}</th>
          <th scope="col">{titled(to.name)}</th>
        </tr>
      </thead>
      <tbody>
        {changed.map(([name, value]) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            <td>{value(from)}</td>
            <td>
              <strong>{value(to)}</strong>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** What a change costs today, before anything is paid. */
function Change({
  plan,
  subscribed,
  onChanged,
}: {
  plan: SoldPlan;
  subscribed: boolean;
  onChanged: (plan?: string) => void;
}) {
  const preview = useQuery({
    queryKey: ['upgrade-preview', plan],
    queryFn: () => call(api.GET('/user/subscription/upgrade-preview', { params: { query: { plan } } })),
  });
  const checkout = useMutation({
    mutationFn: () => call(api.POST('/user/checkout', { body: { plan } })),
    onSuccess: ({ url, scheduledPlan }) => {
      if (url !== '') return window.location.assign(url);
      if (scheduledPlan !== undefined)
        toast(`${titled(scheduledPlan)} starts with your next billing period.`);
      onChanged(scheduledPlan === undefined ? plan : undefined);
    },
  });
  if (preview.error !== null) return <ErrorNote error={preview.error} retry={preview.refetch} />;
  if (preview.data === undefined) return <Loading />;
  const { eligible, amountDueCents, currency, periodEnd } = preview.data;
  const isCharged = eligible && amountDueCents !== undefined;
  return (
    <>
      {isCharged ? (
        <p>
          Due today: <strong>{money(amountDueCents, currency)}</strong>, for the period until{' '}
          <Time at={periodEnd} exact />.
        </p>
      ) : (
        <p>
          {subscribed
            ? 'Nothing is due today. The lower plan starts with your next billing period.'
            : 'The amount is shown at checkout, before you pay.'}
        </p>
      )}
      {checkout.error !== null && <ErrorNote error={checkout.error} />}
      <Button kind="primary" busy={checkout.isPending} onClick={() => checkout.mutate()}>
        {isCharged ? 'Pay and upgrade' : subscribed ? 'Change plan' : 'Continue to payment'}
      </Button>
    </>
  );
}

function fetchPlans() {
  return call(api.GET('/user/plans'));
}

function fetchSubscription() {
  return call(api.GET('/user/subscription'));
}
