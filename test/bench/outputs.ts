/**
 * What a bucket costs a render beside the database: an invoice rendered by a standalone that keeps PDFs in S3, of a server
 * on this machine, and by one that keeps them in GridFS, in turn. Prints how many are made a second with S3, as a part of
 * those with GridFS, and the processor time of one more in the process of Platen itself;
 * the lowest and the highest round beside the median.
 *
 * BENCH_ROUNDS (default 7), BENCH_SECONDS (default 4): of each measurement. Alone: `BENCH_PART=outputs make bench`.
 */
import { startS3 } from '../support/s3-server.ts';
import { spread } from './load.ts';
import { onStandalone, type StandaloneBench } from './on-database.ts';
import { type Measured, measureStandalone } from './standalone-cost.ts';

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 7);
const DURATION_MS = 1000 * Number(process.env.BENCH_SECONDS ?? 4);
const CALLERS = 4;

const server = await startS3();
const bucket = await server.newBucket();
await onStandalone(1, CALLERS, (gridFs) => onStandalone(1, CALLERS, (s3) => compare(gridFs, s3), bucket), {
  PLATEN_OUTPUT_STORE: 'gridfs',
});
await server.close();
process.exit(0);

async function compare(gridFs: StandaloneBench, s3: StandaloneBench): Promise<void> {
  const ratios: number[] = [];
  const more: number[] = [];
  const each: Record<'gridFs' | 's3', number[]> = { gridFs: [], s3: [] };
  for (const bench of [gridFs, s3]) await measureStandalone(bench, CALLERS, DURATION_MS);
  for (let round = 0; round < ROUNDS; round += 1) {
    // Who comes first changes, so that neither has the warmer machine.
    const order = round % 2 === 0 ? [gridFs, s3] : [s3, gridFs];
    const results = new Map<StandaloneBench, Measured>();
    for (const bench of order) results.set(bench, await measureStandalone(bench, CALLERS, DURATION_MS));
    const [before, after] = [results.get(gridFs)!, results.get(s3)!];
    each.gridFs.push(before.perSecond);
    each.s3.push(after.perSecond);
    ratios.push(after.perSecond / before.perSecond);
    more.push(after.cpuMs - before.cpuMs);
  }
  console.log(`\nRenders with PDFs in S3 beside those with GridFS, ${CALLERS} callers, ${ROUNDS} rounds`);
  console.log(`  GridFS: ${spread(each.gridFs, 1)} invoices a second; S3: ${spread(each.s3, 1)}`);
  console.log(
    `  S3: ${spread(ratios, 2)} of the renders a second, wanted ≥ 1; ${spread(more, 2)} ms more of processor time of Platen itself`,
  );
}
