import { useEffect, useState } from 'react';
import { useFilters } from '../filters.ts';
import { TextField } from './field.tsx';

/** After the last letter. */
const RESTS_MS = 300;

/** A text that a list is searched by, once the typing rests. It lives in the address under `name`, which the field follows. */
export function SearchField({
  name,
  ...rest
}: {
  label: string;
  name: string;
  placeholder?: string;
  maxLength: number;
}) {
  const [filters, setFilters] = useFilters();
  const inAddress = filters.get(name) ?? '';
  const [text, setText] = useState(inAddress);
  useEffect(() => setText(inAddress), [inAddress]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: whatever is in the address by then
  useEffect(() => {
    if (text.trim() === inAddress) return;
    const timer = setTimeout(() => setFilters({ [name]: text.trim() }, { replace: true }), RESTS_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return <TextField {...rest} type="search" value={text} onChange={setText} />;
}
