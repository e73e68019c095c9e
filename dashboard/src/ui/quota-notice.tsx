import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { BILL_QUERY, usedPercent } from '../bill-query.ts';
import { number } from '../format.ts';
import { Time } from './bits.tsx';

/** Tells of a quota that is half, nearly or entirely used. */
export function QuotaNotice() {
  const bill = useQuery(BILL_QUERY);
  if (bill.data === undefined) return null;
  const { used, quota, remaining, periodEnd, autoOverage } = bill.data;
  const percent = usedPercent(bill.data);
  if (percent < 50) return null;
  const isOver = remaining === 0;
  return (
    <div className={isOver ? 'note error' : 'note'} role="status">
      <p>
        <strong>
          {isOver
            ? 'Your quota is used up.'
            : `${percent >= 100 ? 'All' : percent >= 80 ? 'More than 80 %' : 'More than half'} of your quota is used.`}
        </strong>{' '}
        {number(used)} of {number(quota)} renders, {number(remaining)} left. The quota renews on{' '}
        <Time at={periodEnd} exact />.{' '}
        {autoOverage === null
          ? isOver
            ? 'Until then live renders are rejected. '
            : ''
          : 'Blocks are bought automatically when it is used up. '}
        <Link href="/billing">More renders and larger plans</Link>
      </p>
    </div>
  );
}
