import type { Connection } from 'mongoose';
import { eventually } from './eventually.ts';

/** What the record of an account in `ledgers` counts, and what it names, until all of its jobs have ended. */
const COUNTS = ['inFlight', 'waiting'];
const NAMES = ['holders', 'pending', 'finalising', 'ending'];

/** What the database holds for jobs that have not ended: at rest nothing. One line for the jobs and for each account. */
export async function whatIsHeld(connection: Connection): Promise<string[]> {
  const live = await connection.collection('jobs').countDocuments({});
  const ledgers = await connection.collection('ledgers').find({}).toArray();
  const taken = ledgers.filter(
    (ledger) =>
      COUNTS.some((name) => (ledger[name] ?? 0) !== 0) ||
      NAMES.some((name) => Object.keys(ledger[name] ?? {}).length > 0),
  );
  return [
    ...(live === 0 ? [] : [`${live} live jobs`]),
    ...taken.map((ledger) => `the ledger ${JSON.stringify(ledger)}`),
  ];
}

/** No slot is taken and no job is left among the live ones, of any account, once the sweeps have been by. */
export async function assertNothingHeld(connection: Connection): Promise<void> {
  const isAtRest = async () => (await whatIsHeld(connection)).length === 0;
  await eventually('nothing held', isAtRest).catch(async (error: Error) => {
    throw new Error(`${error.message}: ${(await whatIsHeld(connection)).join('; ')}`);
  });
}
