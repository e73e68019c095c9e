import { LANGUAGE, money, number, titled } from '../format.ts';

/** What details are called that are not shown by their own names. */
const NAMES: Readonly<Record<string, string>> = {
  prefix: 'key',
  allowedIps: 'allowed IP addresses',
  rolledBackToVersion: 'rolled back to version',
  until: 'valid until',
  units: 'renders',
  capCents: 'spending cap',
  newJob: 'new render',
  attempted: 'tried',
};
/** Details that the sentence has already, or that only programs need. */
const SAID: ReadonlySet<string> = new Set([
  ...['name', 'version', 'versionId', 'rolledBackTo', 'replaced', 'email', 'plan', 'enabled'],
]);
/** The name of an event of the payment provider, which says nothing to a person. */
const EVENT = /^[a-z_]+(\.[a-z_]+)+$/;
const MOMENT = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;

/** The details of an entry as a person reads them: `renders: 1,000, valid until: Jan 30, 2027`. */
export function detailsOf(details: Readonly<Record<string, string>>): string {
  const { message, ...rest } = details;
  const said = Object.entries(rest)
    .filter(([name, value]) => !SAID.has(name) && value !== '' && !(name === 'cause' && EVENT.test(value)))
    .map(([name, value]) => `${NAMES[name] ?? name}: ${worded(name, value)}`);
  return [...(message === undefined || message === '' ? [] : [`“${message}”`]), ...said].join(', ');
}

function worded(name: string, value: string): string {
  if (name === 'capCents') return money(Number(value));
  if (name === 'units') return number(Number(value));
  if (MOMENT.test(value)) return day(value);
  const [from = '', to = ''] = value.split('/');
  if (MOMENT.test(from) && MOMENT.test(to)) return `${day(from)} – ${day(to)}`;
  return ['from', 'to'].includes(name) ? titled(value) : value;
}

function day(value: string): string {
  return new Date(value).toLocaleDateString(LANGUAGE, { dateStyle: 'medium' });
}
