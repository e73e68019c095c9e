import { oneOf, useFilters } from '../filters.ts';
import { Select } from './field.tsx';

/** A filter of a list by one of some values, or by none; it lives in the address under `name`. */
export function Filter({ label, name, values }: { label: string; name: string; values: readonly string[] }) {
  const [filters, setFilters] = useFilters();
  return (
    <Select
      label={label}
      value={oneOf(filters.get(name), values) ?? ''}
      options={[['', 'Any'], ...values.map((value) => [value, value] as const)]}
      onChange={(value) => setFilters({ [name]: value })}
    />
  );
}
