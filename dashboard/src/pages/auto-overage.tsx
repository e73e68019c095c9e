import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { ApiError, api, call } from '../api.ts';
import { money, number } from '../format.ts';
import { Button } from '../ui/button.tsx';
import { Select, TextField } from '../ui/field.tsx';
import { Card } from '../ui/page.tsx';
import { ErrorNote } from '../ui/states.tsx';
import { toast } from '../ui/toasts.tsx';

const SIZES = [1000, 5000, 10000] as const;

/** Buys blocks by itself when the quota is used up, within a sum that must not be exceeded. */
export function AutoOverage({
  subscription,
}: {
  subscription: {
    status: string;
    autoOverageEnabled?: boolean;
    autoOverageBlockSize?: number | null;
    autoOverageCycleCapCents?: number | null;
  };
}) {
  const queries = useQueryClient();
  const { status, autoOverageEnabled = false, autoOverageBlockSize, autoOverageCycleCapCents } = subscription;
  const [size, setSize] = useState(String(autoOverageBlockSize ?? SIZES[0]));
  const [cap, setCap] = useState(
    autoOverageCycleCapCents == null ? '' : String(autoOverageCycleCapCents / 100),
  );
  const set = useMutation({
    mutationFn: (enabled: boolean) => {
      const blockSize = Number(size) as (typeof SIZES)[number];
      const spendCapCents = Math.round(Number(cap) * 100);
      const details = enabled ? { blockSize, ...(cap !== '' && { spendCapCents }) } : {};
      return call(api.POST('/user/subscription/auto-overage', { body: { enabled, ...details } }));
    },
    onSuccess: (now) => {
      toast(now.autoOverageEnabled ? 'Automatic overage is on.' : 'Automatic overage is off.');
      queries.setQueryData(['subscription'], now);
    },
  });
  if (status === 'none') return null;
  return (
    <Card
      title="Automatic overage"
      id="overage"
      lead="Buys more renders by itself when your quota is used up."
    >
      <p>
        {autoOverageEnabled
          ? `On: blocks of ${number(autoOverageBlockSize ?? 0)} renders are bought when they are needed${
              autoOverageCycleCapCents == null
                ? ''
                : `, for at most ${money(autoOverageCycleCapCents)} per billing period`
            }.`
          : 'Off: when your quota is used up, requests are rejected until it renews or you buy more renders.'}
      </p>
      <form
        className="filters"
        onSubmit={(event) => {
          event.preventDefault();
          set.mutate(true);
        }}
      >
        <Select
          label="Renders per block"
          value={size}
          options={SIZES.map((each) => [String(each), number(each)] as const)}
          onChange={setSize}
        />
        <TextField
          label="Spending cap in dollars per billing period"
          type="number"
          min="1"
          step="1"
          value={cap}
          onChange={setCap}
        />
        <Button kind="primary" type="submit" busy={set.isPending}>
          {autoOverageEnabled ? 'Save' : 'Turn on'}
        </Button>
        {autoOverageEnabled && (
          <Button busy={set.isPending} onClick={() => set.mutate(false)}>
            Turn off
          </Button>
        )}
      </form>
      {set.error !== null && <ErrorNote error={inDollars(set.error)} />}
    </Card>
  );
}

/** An error about the cap in the unit that it was typed in; the service counts cents. */
function inDollars(error: unknown): unknown {
  const least = /^spendCapCents: .*?(\d+)$/.exec(
    error instanceof ApiError ? (error.problems[0] ?? '') : '',
  )?.[1];
  if (least === undefined) return error;
  return new Error(`The spending cap must be at least ${money(Number(least))}, the price of one block.`);
}
