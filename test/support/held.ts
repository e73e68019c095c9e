import type { Connection } from 'mongoose';
import { eventually } from './eventually.ts';

/** The collections that hold one record for an account of what its live jobs have taken, by what it counts and names. */
const RECORDS = {
  slots: { counts: ['inFlight'], names: ['holders'] },
  ledgers: { counts: ['inFlight', 'waiting'], names: ['holders', 'arriving', 'leaving', 'ending'] },
} as const;

/** What the database holds for jobs that are not over: at rest nothing. One line for the jobs and for each account. */
export async function whatIsHeld(connection: Connection): Promise<string[]> {
  const live = await connection.collection('jobs').countDocuments({});
  const held = live === 0 ? [] : [`${live} live jobs`];
  for (const [collection, { counts, names }] of Object.entries(RECORDS)) {
    const records = await connection.collection(collection).find({}).toArray();
    for (const record of records) {
      const isTaken =
        counts.some((name) => (record[name] ?? 0) !== 0) ||
        names.some((name) => Object.keys(record[name] ?? {}).length > 0);
      if (isTaken) held.push(`${collection}: ${JSON.stringify(record)}`);
    }
  }
  return held;
}

/** No slot is taken and no job is left among the live ones, of any account, once the sweeps have been by. */
export async function assertNothingHeld(connection: Connection, limitMs = 20_000): Promise<void> {
  const isAtRest = async () => (await whatIsHeld(connection)).length === 0;
  await eventually('nothing held', isAtRest, limitMs).catch(async (error: Error) => {
    throw new Error(`${error.message}: ${(await whatIsHeld(connection)).join('; ')}`);
  });
}
