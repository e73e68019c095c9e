import type { Connection } from 'mongoose';

/** Others may ask the database something in the same moment; hardly each time. */
const RUNS = 3;

/**
 * The fewest documents that the queries of any of three runs examined, as the server itself counts them. On the
 * embedded database and on MongoDB it is the same field.
 */
export async function documentsRead(connection: Connection, work: () => Promise<unknown>): Promise<number> {
  let fewest = Number.POSITIVE_INFINITY;
  for (let run = 0; run < RUNS; run += 1) {
    const before = await soFar(connection);
    await work();
    fewest = Math.min(fewest, (await soFar(connection)) - before);
  }
  return fewest;
}

async function soFar(connection: Connection): Promise<number> {
  const { metrics } = await connection.db!.command({ serverStatus: 1 });
  return Number(metrics.queryExecutor.scannedObjects);
}
