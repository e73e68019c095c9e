/** Takes pointers from Kafka and prints their ids, one per line; to be killed. Arguments: brokers, prefix, how many. */
import { pino } from 'pino';
import { createKafkaBus } from '../../src/infra/bus/kafka.ts';
import { DEFAULT_POOL } from '../../src/tenants/plans/names.ts';
import { lanesAt } from './lanes.ts';

const [brokers, prefix, slots] = process.argv.slice(2) as [string, string, string];
let free = Number(slots);
const bus = await createKafkaBus({
  brokers: brokers.split(','),
  clientId: 'dying',
  topicPrefix: prefix,
  lanes: lanesAt(prefix),
  sessionTimeoutMs: 3000,
  logger: pino({ level: 'silent' }),
});
await bus.consumePointers(DEFAULT_POOL, {
  worker: 'dying',
  reserve: async (_class, signal) => {
    if (free-- > 0) return { release: () => {} };
    console.log('waiting');
    return new Promise((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason));
    });
  },
  accept: async ({ jobId }) => console.log(jobId),
});
