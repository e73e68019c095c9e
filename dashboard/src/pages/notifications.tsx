import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, call } from '../api.ts';
import { LIVE } from '../live.ts';
import { useAccount } from '../session.tsx';
import { Button } from '../ui/button.tsx';
import { TextField } from '../ui/field.tsx';
import { Card } from '../ui/page.tsx';
import { ErrorNote, Loading } from '../ui/states.tsx';
import { toast } from '../ui/toasts.tsx';

const QUERY = { queryKey: ['notifications'], queryFn: () => call(api.GET('/user/notifications')) };

type Notifications = Awaited<ReturnType<typeof QUERY.queryFn>>;
type Kind = Notifications['mails'][number]['kind'];
type Thresholds = Notifications['thresholds'];
type Percent = Thresholds['quotaPercents'][number];

const NAMES: Readonly<Record<Kind, string>> = {
  quota: 'My renders are nearly or fully used',
  spend: 'Automatic overage comes close to its cap',
  failures: 'Many renders fail',
  webhooks: 'A webhook stops responding, and when it works again',
};
const PERCENTS: readonly Percent[] = [50, 75, 80, 90, 95, 100];

/** Which alerts the person gets by mail, and from when on the account has any. */
export function NotificationsCard() {
  const { role } = useAccount();
  const queries = useQueryClient();
  const found = useQuery(QUERY);
  const saved = (now: Notifications) => {
    queries.setQueryData(QUERY.queryKey, now);
    void queries.invalidateQueries({ queryKey: [LIVE, 'alerts'] });
  };
  const choose = useMutation({
    mutationFn: (body: Partial<Record<Kind, boolean>>) => call(api.PATCH('/user/notifications', { body })),
    onSuccess: saved,
  });
  return (
    <Card
      title="Notifications"
      lead="What the account tells people about. All of it is on the overview as well."
    >
      {found.error !== null && <ErrorNote error={found.error} retry={found.refetch} />}
      {found.isPending && <Loading />}
      {found.data !== undefined && (
        <>
          <fieldset className="choices">
            <legend>E-mail me when</legend>
            {found.data.mails
              .filter(({ available }) => available)
              .map(({ kind, on }) => (
                <label key={kind} className="choice">
                  <input
                    type="checkbox"
                    checked={on}
                    disabled={choose.isPending}
                    onChange={(event) => choose.mutate({ [kind]: event.target.checked })}
                  />
                  {NAMES[kind]}
                </label>
              ))}
          </fieldset>
          {choose.error !== null && <ErrorNote error={choose.error} />}
          {role === 'owner' && (
            <ThresholdForm
              key={JSON.stringify(found.data.thresholds)}
              thresholds={found.data.thresholds}
              onSaved={saved}
            />
          )}
        </>
      )}
    </Card>
  );
}

function ThresholdForm({
  thresholds,
  onSaved,
}: {
  thresholds: Thresholds;
  onSaved: (now: Notifications) => void;
}) {
  const [percents, setPercents] = useState(thresholds.quotaPercents);
  const [failurePercent, setFailurePercent] = useState(String(thresholds.failurePercent));
  const [failureRenders, setFailureRenders] = useState(String(thresholds.failureRenders));
  const [webhookFailures, setWebhookFailures] = useState(String(thresholds.webhookFailures));
  const save = useMutation({
    mutationFn: () =>
      call(
        api.PATCH('/user/notifications/thresholds', {
          body: {
            quotaPercents: percents,
            failurePercent: Number(failurePercent),
            failureRenders: Number(failureRenders),
            webhookFailures: Number(webhookFailures),
          },
        }),
      ),
    onSuccess: (now) => {
      toast('The thresholds are changed, for everyone in the account.');
      onSaved(now);
    },
  });
  const toggle = (percent: Percent, on: boolean) =>
    setPercents(PERCENTS.filter((each) => (each === percent ? on : percents.includes(each))));
  return (
    <form
      className="form"
      onSubmit={(event) => {
        event.preventDefault();
        save.mutate();
      }}
    >
      <div>
        <h3>Thresholds</h3>
        <p className="quiet">From when on there is an alert, for everyone in the account.</p>
      </div>
      <fieldset className="choices row">
        <legend>Share of the renders, and of the spending cap, that is used</legend>
        {PERCENTS.map((percent) => (
          <label key={percent} className="choice">
            <input
              type="checkbox"
              checked={percents.includes(percent)}
              onChange={(event) => toggle(percent, event.target.checked)}
            />
            {percent} %
          </label>
        ))}
      </fieldset>
      <div className="numbers">
        <TextField
          label="Failed renders in an hour (%)"
          type="number"
          required
          min="1"
          max="99"
          value={failurePercent}
          onChange={setFailurePercent}
        />
        <TextField
          label="Of at least this many renders"
          type="number"
          required
          min="1"
          max="1000000"
          value={failureRenders}
          onChange={setFailureRenders}
        />
        <TextField
          label="Failed webhook attempts in a row"
          type="number"
          required
          min="1"
          max="1000"
          hint="Or an hour without a delivery."
          value={webhookFailures}
          onChange={setWebhookFailures}
        />
      </div>
      {save.error !== null && <ErrorNote error={save.error} />}
      <Button type="submit" busy={save.isPending}>
        Save thresholds
      </Button>
    </form>
  );
}
