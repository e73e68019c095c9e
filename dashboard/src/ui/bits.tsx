import { useState } from 'react';
import { Button } from './button.tsx';

const TONES: Readonly<Record<string, string>> = {
  completed: 'good',
  delivered: 'good',
  active: 'good',
  success: 'good',
  paid: 'good',
  failed: 'bad',
  error: 'bad',
  revoked: 'bad',
  processing: 'busy',
  running: 'busy',
  pending: 'busy',
  retiring: 'busy',
};

/** A status by word and colour; the word is enough. */
export function Badge({ status }: { status: string }) {
  return <span className={`badge ${TONES[status] ?? 'calm'}`}>{status}</span>;
}

/** A moment in local time, with UTC beside it when pointed at or focused. */
export function Time({ at }: { at: string | null | undefined }) {
  if (at === null || at === undefined) return <span className="quiet">never</span>;
  const date = new Date(at);
  const utc = date.toISOString().replace('T', ' ').replace(/\..*/, ' UTC');
  return (
    <time dateTime={at} title={utc}>
      {date.toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'medium' })}
    </time>
  );
}

export function Copy({ text, label = 'Copy' }: { text: string; label?: string }) {
  const [said, setSaid] = useState(label);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setSaid('Copied');
    } catch {
      setSaid('Select and copy by hand');
    }
    setTimeout(() => setSaid(label), 2000);
  };
  return (
    <Button onClick={() => void copy()}>
      <span aria-live="polite">{said}</span>
    </Button>
  );
}

/** Text in a fixed width, with a button that copies it. */
export function Code({ text, label }: { text: string; label: string }) {
  return (
    <figure className="code">
      <figcaption>
        <span>{label}</span>
        <Copy text={text} />
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard */}
      <pre tabIndex={0}>{text}</pre>
    </figure>
  );
}
