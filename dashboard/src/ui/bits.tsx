import {
  Ban,
  Check,
  CircleDashed,
  CircleSlash,
  Clock,
  Copy as CopyIcon,
  LoaderCircle,
  TriangleAlert,
  X,
} from 'lucide-react';
import { useState } from 'react';
import { LANGUAGE, number } from '../format.ts';
import { Button } from './button.tsx';
import { Icon, type LucideIcon } from './icon.tsx';
import { useMinute } from './minute.ts';

const LOOKS: Readonly<Record<string, readonly [tone: string, icon: LucideIcon]>> = {
  completed: ['good', Check],
  delivered: ['good', Check],
  active: ['good', Check],
  success: ['good', Check],
  paid: ['good', Check],
  failed: ['bad', X],
  error: ['bad', X],
  revoked: ['bad', CircleSlash],
  processing: ['busy', LoaderCircle],
  running: ['busy', LoaderCircle],
  pending: ['busy', Clock],
  retiring: ['busy', Clock],
  queued: ['calm', Clock],
  cancelled: ['calm', Ban],
};

/** A status by word, colour and icon; the word is enough. */
export function Badge({ status }: { status: string }) {
  const [tone, icon] = LOOKS[status] ?? ['calm', CircleDashed];
  return (
    <span className={`badge ${tone}`}>
      <Icon of={icon} size={12} />
      {status}
    </span>
  );
}

/** The status of a batch. One that has ended is completed, however many of its documents have failed: that is said as well. */
export function BatchBadge({ status, failed }: { status: string; failed: number }) {
  if (status !== 'completed' || failed === 0) return <Badge status={status} />;
  return (
    <span className="badge busy">
      <Icon of={TriangleAlert} size={12} />
      completed, {number(failed)} failed
    </span>
  );
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
    <Button icon={said === 'Copied' ? Check : CopyIcon} onClick={() => void copy()}>
      <span aria-live="polite">{said}</span>
    </Button>
  );
}

/** Somebody of the account, by the e-mail address. */
export function Person({ name }: { name: string }) {
  return <bdi className="person">{name}</bdi>;
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
