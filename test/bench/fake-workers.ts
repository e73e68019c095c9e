import type { Connection } from 'mongoose';
import type { Pod } from '../../src/kubernetes/resources/kinds.ts';

const REPORT_EVERY_MS = 3000;

/** Lets every pod have a worker in the registry that claims work and has none, and reports as often as real ones do. */
export async function pretendWorkers(
  connection: Connection,
  pods: readonly Pod[],
): Promise<{ stop(): Promise<void> }> {
  const records = connection.collection<{ _id: string }>('workers');
  const startedAt = new Date(Date.now() - 600_000);
  await records.insertMany(
    pods.map(({ metadata, spec }) => ({
      _id: `${metadata.name}-worker`,
      pool: metadata.labels?.['platen.dev/pool'] ?? '',
      pod: metadata.name,
      namespace: metadata.namespace ?? null,
      node: spec?.nodeName ?? null,
      slots: 2,
      busy: 0,
      state: 'claiming',
      startedAt,
      sandbox: 'on',
      browser: 'pretended',
      pauseRequested: false,
      seenAt: new Date(),
    })),
  );
  const report = () => records.updateMany({}, { $set: { seenAt: new Date() } });
  let reporting: Promise<unknown> = Promise.resolve();
  const timer = setInterval(() => {
    reporting = report();
  }, REPORT_EVERY_MS);
  return {
    stop: async () => {
      clearInterval(timer);
      await reporting;
    },
  };
}
