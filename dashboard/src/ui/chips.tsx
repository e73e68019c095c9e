import { X } from 'lucide-react';
import { useFilters } from '../filters.ts';
import { Icon } from './icon.tsx';

/** What a list is narrowed by: one chip for each, which a press takes away. @param chips the name in the address, and the words. */
export function FilterChips({ chips }: { chips: readonly (readonly [name: string, words: string])[] }) {
  const [, setFilters] = useFilters();
  if (chips.length === 0) return null;
  return (
    <ul className="chips" aria-label="Filters">
      {chips.map(([name, words]) => (
        <li key={name}>
          <button type="button" className="chip" onClick={() => setFilters({ [name]: '' })}>
            <span className="unseen">Remove </span>
            <bdi>{words}</bdi> <Icon of={X} size={12} />
          </button>
        </li>
      ))}
      {chips.length > 1 && (
        <li>
          <button
            type="button"
            className="chip clear"
            onClick={() => setFilters(Object.fromEntries(chips.map(([name]) => [name, ''])))}
          >
            Clear all
          </button>
        </li>
      )}
    </ul>
  );
}
