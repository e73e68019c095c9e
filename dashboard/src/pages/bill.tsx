import { useMutation, useQuery } from '@tanstack/react-query';
import { api, call } from '../api.ts';
import { BILL_QUERY, usedPercent } from '../bill-query.ts';
import { counted, money, number } from '../format.ts';
import { Time } from '../ui/bits.tsx';
import { Button } from '../ui/button.tsx';
import { Card, Tiles } from '../ui/page.tsx';
import { ErrorNote, Loading } from '../ui/states.tsx';

/** What the current period has used and cost so far, and what is due next. */
export function PeriodSoFar({ isSold }: { isSold: boolean }) {
  const bill = useQuery(BILL_QUERY);
  if (bill.error !== null) return <ErrorNote error={bill.error} retry={bill.refetch} />;
  if (bill.data === undefined) return <Loading />;
  const { used, quota, remaining, periodEnd, planCents, blocks, totalCents, autoOverage, nextInvoice } =
    bill.data;
  const blockCents = totalCents - planCents;
  return (
    <section className="part" aria-labelledby="period">
      <h2 id="period">This period</h2>
      <Tiles
        tiles={[
          [
            'Renders used',
            number(used),
            <>
              <progress
                className="wide"
                max={Math.max(1, quota)}
                value={Math.min(used, quota)}
                aria-label="Quota that is used"
              />
              of {number(quota)} ({usedPercent(bill.data)} %), {number(remaining)} left
            </>,
          ],
          ...(isSold
            ? [
                [
                  'Cost so far',
                  money(totalCents),
                  blocks.length === 0
                    ? 'for the plan'
                    : `${money(planCents)} for the plan, ${money(blockCents)} for ${counted(blocks.length, 'block')}`,
                ] as const,
                nextInvoice === null
                  ? (['Next invoice', 'None'] as const)
                  : ([
                      'Next invoice',
                      money(nextInvoice.amountCents),
                      <>
                        on <Time at={nextInvoice.at} exact />
                      </>,
                    ] as const),
              ]
            : []),
          ...(autoOverage === null
            ? []
            : [
                [
                  'Automatic overage',
                  money(autoOverage.spentCents),
                  `of at most ${money(autoOverage.capCents)}`,
                ] as const,
              ]),
        ]}
      />
      <p className="quiet">
        Your renders renew on <Time at={periodEnd} exact />.
        {isSold && ' Amounts are without taxes, discounts and credit.'}
      </p>
    </section>
  );
}

/** Blocks of renders beyond the quota, each with its price. */
export function Blocks() {
  const prices = useQuery({ queryKey: ['overage'], queryFn: () => call(api.GET('/user/overage')) });
  const buy = useMutation({
    mutationFn: (blockSize: 1000 | 5000 | 10000) => call(api.POST('/user/overage', { body: { blockSize } })),
    onSuccess: ({ url }) => window.location.assign(url),
  });
  return (
    <Card
      title="More renders"
      lead="Used once those of your plan are used up, until the end of the next period."
    >
      {prices.error !== null && <ErrorNote error={prices.error} retry={prices.refetch} />}
      {buy.error !== null && <ErrorNote error={buy.error} />}
      <div className="actions">
        {prices.data?.blocks.map(({ blockSize, priceCents }) => (
          <Button key={blockSize} busy={buy.isPending} onClick={() => buy.mutate(blockSize)}>
            Buy {number(blockSize)} for {money(priceCents, prices.data.currency)}
          </Button>
        ))}
      </div>
    </Card>
  );
}
