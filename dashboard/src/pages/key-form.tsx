import { useState } from 'react';
import { ApiError } from '../api.ts';
import { Button } from '../ui/button.tsx';
import { Select, TextArea, TextField } from '../ui/field.tsx';
import { ErrorNote } from '../ui/states.tsx';

export interface Key {
  readonly id: string;
  readonly name: string;
  readonly mode: 'live' | 'test';
  readonly allowedIps: readonly string[];
}

export interface KeyValues {
  readonly name: string;
  readonly mode: 'live' | 'test';
  readonly allowedIps: string[];
}

/** What is asked of a key: a new one, or one that is known, whose mode stays. */
export function KeyForm({ known, onDone }: { known?: Key; onDone: (values: KeyValues) => Promise<void> }) {
  const [name, setName] = useState(known?.name ?? '');
  const [mode, setMode] = useState<'live' | 'test'>(known?.mode ?? 'test');
  const [error, setError] = useState<unknown>();
  const [addresses, setAddresses] = useState(known?.allowedIps.join('\n') ?? '');
  return (
    <form
      className="form"
      onSubmit={(event) => {
        event.preventDefault();
        setError(undefined);
        const allowedIps = addresses.split(/[\s,]+/).filter((each) => each !== '');
        onDone({ name, mode, allowedIps }).catch((failed: unknown) => setError(wordsFor(failed, allowedIps)));
      }}
    >
      <TextField
        label="Name"
        hint="What it is for, such as the service that uses it."
        required
        value={name}
        onChange={setName}
      />
      {known === undefined && (
        <Select
          label="Mode"
          value={mode}
          options={[
            ['test', 'Test (watermark, free)'],
            ['live', 'Live (uses your quota)'],
          ]}
          onChange={(value) => setMode(value || 'test')}
        />
      )}
      <TextArea
        label="Allowed IP addresses"
        hint="One per line, such as 203.0.113.7 or 203.0.113.0/24. Leave it empty to allow any."
        rows={3}
        value={addresses}
        onChange={setAddresses}
      />
      {error !== undefined && <ErrorNote error={error} />}
      <Button kind="primary" type="submit">
        {known === undefined ? 'Create key' : 'Save'}
      </Button>
    </form>
  );
}

/** An error with the addresses as they were typed, in place of their number in the request. */
function wordsFor(error: unknown, allowedIps: readonly string[]): unknown {
  if (!(error instanceof ApiError) || error.code !== 'VALIDATION') return error;
  const problems = error.problems.map((problem) =>
    problem.replace(/^allowedIps\[(\d+)\]: /, (_, index) => `${allowedIps[Number(index)]}: `),
  );
  return new Error(problems.join(' '));
}
