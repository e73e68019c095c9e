import type { Connection } from 'mongoose';

/** The PDFs that an account is charged for: its ledger counts one when it is admitted, and gives it back if there is none. */
export async function chargedTo(connection: Connection, accountId: string): Promise<number> {
  const ledger = await connection
    .collection<{ _id: string; quota?: Record<string, number> }>('ledgers')
    .findOne({ _id: accountId });
  return Object.values(ledger?.quota ?? {}).reduce((sum, each) => sum + each, 0);
}
