/**
 * What processes use while nobody asks anything of them: milliseconds of processor time a second, each over half a minute. First the
 * roles of a service over Kafka, then standalone, with the settings that an installation has.
 *
 * BENCH_SECONDS (default 30). Alone: `BENCH_PART=at-rest make bench`.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { startKafka } from '../support/kafka.ts';
import { stopMongo } from '../support/mongo.ts';
import { openKafkaService, openStandaloneService, type TestService } from '../support/service.ts';
import { watchCpu } from './cpu.ts';

const SECONDS = Number(process.env.BENCH_SECONDS ?? 30);
/** After the start: for what is made ahead. */
const SETTLED_MS = 10_000;
/** In place of the shorter times of tests, and of the file of plans that tests have. */
const DEFAULTS = { PLATEN_SWEEP_MS: '1000', PLATEN_REDELIVERY_MS: '5000', PLATEN_PLANS_FILE: '' };

async function measure(service: TestService): Promise<void> {
  await sleep(SETTLED_MS);
  const watched = [...service.roles].map(([role, process]) => ({ role, cpu: watchCpu({ [role]: process }) }));
  await sleep(SECONDS * 1000);
  const used = watched.map(
    ({ role, cpu }) => `${role} ${((cpu.stop().seconds * 1000) / SECONDS).toFixed(1)}`,
  );
  console.log(`At rest, in milliseconds a second: ${used.join(', ')}`);
  await service.stop();
}

const kafka = await startKafka();
await measure(await openKafkaService(DEFAULTS, undefined, kafka));
await kafka.stop();
await measure(await openStandaloneService(DEFAULTS));
await stopMongo();
process.exit(0);
