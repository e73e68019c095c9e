import { useState } from 'react';
import { LANGUAGE, number } from '../format.ts';
import { Button } from './button.tsx';
import { useMinute } from './minute.ts';

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

/** The status of a batch. One that has ended is completed, however many of its documents have failed: that is said as well. */
export function BatchBadge({ status, failed }: { status: string; failed: number }) {
  if (status !== 'completed' || failed === 0) return <Badge status={status} />;
  return <span className="badge busy">completed, {number(failed)} failed</span>;
}

const RELATIVE = new Intl.RelativeTimeFormat(LANGUAGE, { style: 'short', numeric: 'auto' });
/** Up to a day away, a moment is told by how far away it is. */
const NEAR_MS = 24 * 3_600_000;
const UNITS = [
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const;

/** How far away a moment is, in the largest unit that it fills: `5 min. ago`, `in 3 hr.`. */
function distance(ms: number): string {
  const [unit, length] = UNITS.find(([, each]) => Math.abs(ms) >= each) ?? [];
  return unit === undefined || length === undefined ? 'now' : RELATIVE.format(Math.trunc(ms / length), unit);
}

/**
 * A moment: how far away it is, if that is less than a day, else in local time; in full, with its time zone and in UTC, when
 * pointed at.
 *
 * @param exact always in local time, as within a sentence.
 * @param none what is shown where there is no such moment.
 */
export function Time({
  at,
  exact = false,
  none = 'Never',
}: {
  at: string | null | undefined;
  exact?: boolean;
  none?: string;
}) {
  const now = useMinute();
  if (at === null || at === undefined) return <span className="quiet">{none}</span>;
  const date = new Date(at);
  const local = date.toLocaleString(LANGUAGE, { dateStyle: 'full', timeStyle: 'long' });
  const utc = date.toISOString().replace('T', ' ').replace(/\..*/, ' UTC');
  const away = date.getTime() - now;
  return (
    <time dateTime={at} title={`${local} (${utc})`}>
      {!exact && Math.abs(away) < NEAR_MS
        ? distance(away)
        : date.toLocaleString(LANGUAGE, { dateStyle: 'medium', timeStyle: 'short' })}
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
      setSaid('Select it and copy by hand');
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
