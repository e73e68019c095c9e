import { table } from '../table.ts';
import type { Body } from './admin-client.ts';

/** The heading of a column, and the field that it shows, or what it makes of a row. */
export type Column = readonly [heading: string, field: string | ((row: Body) => unknown)];

/** The columns of each list. */
export const LISTS = {
  accounts: [
    ['ID', 'id'],
    ['EMAIL', 'email'],
    ['PLAN', 'plan'],
    ['CREATED', 'createdAt'],
    ['SUSPENDED', 'suspendedAt'],
    ['DELETING', 'deletingSince'],
    ['REQUESTS 24H', ({ lastDay }) => (lastDay as Body).requests],
    ['FAILED 24H', ({ lastDay }) => (lastDay as Body).failed],
  ],
  workers: [
    ['ID', 'id'],
    ['POOL', 'pool'],
    ['POD', 'pod'],
    ['STATE', ({ state, draining }) => (draining ? `${state}, draining` : state)],
    ['SLOTS', 'slots'],
    ['BUSY', 'busy'],
    ['BROWSER', 'browser'],
    [
      'RENDERS',
      ({ jobs }) => (jobs as Body[]).map(({ id, startedAt }) => `${id} since ${startedAt}`).join(', '),
    ],
  ],
  jobs: [
    ['ID', 'id'],
    ['ACCOUNT', 'accountId'],
    ['STATE', 'state'],
    ['CODE', 'errorCode'],
    ['ATTEMPTS', ({ attempts, maxAttempts }) => `${attempts}/${maxAttempts}`],
    ['POOL', 'pool'],
    ['CREATED', 'createdAt'],
    ['ENDED', 'completedAt'],
  ],
  deliveries: [
    ['ID', 'id'],
    ['ACCOUNT', 'accountId'],
    ['EVENT', 'event'],
    ['HOST', 'host'],
    ['STATE', 'state'],
    ['ATTEMPTS', 'attempts'],
    ['RESPONSE', 'responseStatus'],
    ['NEXT', 'nextAttemptAt'],
  ],
  mails: [
    ['ID', 'id'],
    ['TO', 'to'],
    ['KIND', 'kind'],
    ['STATE', 'state'],
    ['ATTEMPTS', 'attempts'],
    ['NEXT', 'nextAttemptAt'],
    ['ERROR', 'error'],
  ],
  billing: [
    ['ID', 'id'],
    ['ACCOUNT', 'accountId'],
    ['STATE', 'state'],
    ['FAILURES', 'failures'],
    ['NEXT', 'nextAttemptAt'],
    ['PROBLEMS', ({ problems }) => (problems as string[]).join('; ')],
  ],
  audit: [
    ['AT', 'at'],
    ['OPERATOR', 'operator'],
    ['ACTION', 'action'],
    ['ACCOUNT', 'accountId'],
    ['TARGET', 'targetId'],
    ['DETAILS', 'details'],
  ],
} as const satisfies Readonly<Record<string, readonly Column[]>>;

const POOLS: readonly Column[] = [
  ['POOL', 'pool'],
  ['WAITING', 'waiting'],
  ['DISPATCHED', ({ dispatched }) => byClass(dispatched)],
  ['RUNNING', ({ running }) => byClass(running)],
  ['OLDEST DISPATCHED', 'oldestDispatchedAt'],
  ['WORKERS', 'workers'],
  ['SLOTS', ({ busy, slots }) => `${busy}/${slots}`],
];
const QUEUES: readonly Column[] = [
  ['ACCOUNT', 'accountId'],
  ['EMAIL', 'email'],
  ['POOL', 'pool'],
  ['IN FLIGHT', ({ inFlight, concurrentRenders }) => `${inFlight}/${concurrentRenders}`],
  ['WAITING', ({ waiting }) => byClass(waiting)],
  ['RETRIES', ({ retries, nextRetryAt }) => (retries === 0 ? 0 : `${retries}, next ${nextRetryAt}`)],
  ['OLDEST', 'oldestWaitingAt'],
  ['WHY', ({ reasons }) => (reasons as string[]).join(', ')],
];

/** What waits and runs, by pool and by account. */
export function queueText({ pools, accounts, totalAccounts }: Body): string {
  const shown = accounts as Body[];
  const more = Number(totalAccounts) > shown.length ? `\n\n${totalAccounts} accounts have jobs.` : '';
  return `${columnTable(POOLS, pools as Body[])}\n\n${columnTable(QUEUES, shown)}${more}`;
}

export function columnTable(columns: readonly Column[], rows: readonly Body[]): string {
  return table(
    columns.map(([heading]) => heading),
    rows.map((row) => columns.map(([, field]) => cell(typeof field === 'string' ? row[field] : field(row)))),
  );
}

/** Names and values, one pair to a line. */
export function fieldTable(fields: readonly (readonly [string, string])[]): string {
  return table(['FIELD', 'VALUE'], fields);
}

/** A value in one line. Control characters would change what a terminal shows. */
export function cell(value: unknown): string {
  if (value === null || value === undefined || value === '') return '-';
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  return text.replaceAll(/\p{Cc}/gu, ' ');
}

/** Interactive and bulk jobs. */
function byClass(counts: unknown): string {
  const { interactive, bulk } = counts as Body;
  return `${interactive}+${bulk}`;
}
