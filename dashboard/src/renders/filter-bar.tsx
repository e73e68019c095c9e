import { useQuery } from '@tanstack/react-query';
import { api, call } from '../api.ts';
import { useFilters } from '../filters.ts';
import { mayDevelop } from '../roles.ts';
import { useAccount } from '../session.tsx';
import { STATUSES } from '../statuses.ts';
import { FilterChips } from '../ui/chips.tsx';
import { Select, TextField } from '../ui/field.tsx';
import { SearchField } from '../ui/search-field.tsx';
import { MODES, type Names, sortOf, TERMS, termsOf, wordsOf } from './terms.ts';

const HOUR_MS = 3_600_000;
const TIMES = [
  ['Last hour', HOUR_MS],
  ['Last 24 hours', 24 * HOUR_MS],
  ['Last 7 days', 7 * 24 * HOUR_MS],
] as const;
const SLOW_MS = [1000, 5000, 10_000, 30_000] as const;

/** What the list may be narrowed by, and what it is narrowed by now: one chip for each. All of it is in the address. */
export function FilterBar() {
  const [filters, setFilters] = useFilters();
  const { templates, keys, codes } = useChoices();
  const terms = termsOf(filters);
  const names: Names = {
    templates: new Map(templates.map(({ id, name }) => [id, name])),
    keys: new Map(keys.map(({ id, name }) => [id, name])),
  };
  const chips = TERMS.flatMap((term) => {
    const value = terms[term];
    return value === undefined ? [] : [[term, wordsOf(term, value, names)] as const];
  });
  return (
    <>
      <div className="filters">
        <SearchField label="Name or id" name="search" placeholder="invoice, or 3f9a12bc" maxLength={100} />
        <AddFilter templates={templates} keys={keys} codes={codes} />
        <Select
          label="Order"
          value={sortOf(filters) ?? ''}
          options={[
            ['', 'Newest first'],
            ['created_asc', 'Oldest first'],
            ['duration_desc', 'Slowest first'],
          ]}
          onChange={(sort) => setFilters({ sort })}
        />
        <TextField
          label="From"
          type="datetime-local"
          value={terms.from === undefined ? '' : localTime(terms.from)}
          onChange={(value) => setFilters({ from: value })}
        />
        <TextField
          label="Until"
          type="datetime-local"
          value={terms.to === undefined ? '' : localTime(terms.to)}
          onChange={(value) => setFilters({ to: value })}
        />
      </div>
      <FilterChips chips={chips} />
    </>
  );
}

interface Choices {
  readonly templates: readonly { readonly id: string; readonly name: string }[];
  readonly keys: readonly { readonly id: string; readonly name: string }[];
  readonly codes: readonly string[];
}

/** What there is to choose from, of the account and of the service. */
function useChoices(): Choices {
  const templates = useQuery({
    queryKey: ['templates', 'choice'],
    queryFn: () => call(api.GET('/user/templates', { params: { query: { view: 'summary', limit: 100 } } })),
  });
  const { role } = useAccount();
  const keys = useQuery({
    enabled: mayDevelop(role),
    queryKey: ['keys', 'choice'],
    queryFn: () => call(api.GET('/user/api-keys', { params: { query: { limit: 100 } } })),
  });
  const codes = useQuery({
    queryKey: ['remedies'],
    queryFn: async () => (await import('../../../clients/typescript/src/generated/remedies.ts')).REMEDIES,
    staleTime: Number.POSITIVE_INFINITY,
  });
  return {
    templates: templates.data?.templates ?? [],
    keys: keys.data?.keys ?? [],
    codes: Object.keys(codes.data ?? {}).sort(),
  };
}

/** One list of all that can be chosen, in groups: choosing adds a chip. */
function AddFilter({ templates, keys, codes }: Choices) {
  const [, setFilters] = useFilters();
  const choose = (value: string) => {
    const [term, chosen] = JSON.parse(value) as [string, string | number];
    // A time is that of the choice, so that the list and its address stay the same.
    setFilters({
      [term]: term === 'from' ? new Date(Date.now() - Number(chosen)).toISOString() : String(chosen),
    });
  };
  const groups: readonly (readonly [
    string,
    readonly (readonly [term: string, value: string | number, text: string])[],
  ])[] = [
    ['Status', STATUSES.map((status) => ['status', status, status])],
    ['Mode', MODES.map((mode) => ['mode', mode, mode])],
    ['Time', TIMES.map(([text, ms]) => ['from', ms, text])],
    ['Duration', SLOW_MS.map((ms) => ['minMs', ms, `${ms / 1000} s or longer`])],
    ['Template', templates.map(({ id, name }) => ['templateId', id, name])],
    [
      'Key',
      [
        ['apiKeyId', 'none', 'Dashboard, without a key'],
        ...keys.map(({ id, name }) => ['apiKeyId', id, name] as const),
      ],
    ],
    ['Error', codes.map((code) => ['error', code, code])],
  ];
  return (
    <div className="field">
      <label htmlFor="add-filter">Filter</label>
      <select id="add-filter" value="" onChange={({ target }) => choose(target.value)}>
        <option value="" disabled>
          Add a filter …
        </option>
        {groups.map(([group, options]) => (
          <optgroup key={group} label={group}>
            {options.map(([term, value, text]) => (
              <option key={value} value={JSON.stringify([term, value])}>
                {text}
              </option>
            ))}
          </optgroup>
        ))}
      </select>
    </div>
  );
}

/** A moment as a field of the browser has it. */
function localTime(iso: string): string {
  const date = new Date(iso);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
