import { useState } from 'react';
import { Button } from '../ui/button.tsx';
import { Select, TextArea, TextField } from '../ui/field.tsx';

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
export function KeyForm({ known, onDone }: { known?: Key; onDone: (values: KeyValues) => void }) {
  const [name, setName] = useState(known?.name ?? '');
  const [mode, setMode] = useState<'live' | 'test'>(known?.mode ?? 'test');
  const [addresses, setAddresses] = useState(known?.allowedIps.join('\n') ?? '');
  return (
    <form
      className="form"
      onSubmit={(event) => {
        event.preventDefault();
        onDone({ name, mode, allowedIps: addresses.split(/[\s,]+/).filter((each) => each !== '') });
      }}
    >
      <TextField
        label="Name"
        hint="What it is for, so that you know it again."
        required
        value={name}
        onChange={setName}
      />
      {known === undefined && (
        <Select
          label="Mode"
          value={mode}
          options={[
            ['test', 'test: a watermark, and no cost'],
            ['live', 'live'],
          ]}
          onChange={(value) => setMode(value || 'test')}
        />
      )}
      <TextArea
        label="Addresses it is taken from"
        hint="One a line, as 203.0.113.7 or 203.0.113.0/24. Empty: anywhere."
        rows={3}
        value={addresses}
        onChange={setAddresses}
      />
      <Button kind="primary" type="submit">
        {known === undefined ? 'Make the key' : 'Save'}
      </Button>
    </form>
  );
}
