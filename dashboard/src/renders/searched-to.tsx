import { useFilters } from '../filters.ts';
import { Time } from '../ui/bits.tsx';
import { Button } from '../ui/button.tsx';

/** Where a search has ended that does not look at everything at once, and the way on. */
export function SearchedTo({
  to,
  ascending,
  of = 'renders',
}: {
  to: string | null;
  ascending: boolean;
  of?: string;
}) {
  const [, setFilters] = useFilters();
  if (to === null) return null;
  return (
    <p className="note searched">
      <span>
        This search has looked at 5,000 {of}, {ascending ? 'up' : 'back'} to <Time at={to} exact />.
      </span>
      <Button onClick={() => setFilters({ [ascending ? 'from' : 'to']: to })}>
        Search {ascending ? 'newer' : 'older'} {of}
      </Button>
    </p>
  );
}
