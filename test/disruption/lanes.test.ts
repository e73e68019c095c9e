import assert from 'node:assert/strict';
import mongoose, { type Connection } from 'mongoose';
import { eventually } from '../support/eventually.ts';
import { assertNothingHeld } from '../support/held.ts';
import { openKafkaService, SHORT_LEASE, type Tenant, type TestService } from '../support/service.ts';

const ACCOUNTS = 12;
const JOBS = 36;

interface WorkerLane {
  readonly pod: string;
  readonly lane?: string;
  readonly reads?: boolean;
}

describe('Lanes of workers that are killed, stand still, end and come', () => {
  let service: TestService;
  let tenants: Tenant[];
  let connection: Connection;
  before(async () => {
    service = await openKafkaService(SHORT_LEASE, ['dispatcher', 'worker-1', 'worker-2', 'api']);
    connection = await mongoose.createConnection(service.mongodbUri).asPromise();
    tenants = [];
    for (let n = 0; n < ACCOUNTS; n += 1) tenants.push(await service.newTenant('professional'));
  });
  after(async () => {
    await connection?.close();
    await service?.stop();
  });

  /** The lane that each worker reads, by pod. */
  const lanes = async () => {
    const found = await connection
      .collection<WorkerLane>('workers')
      .find({ lane: { $exists: true } })
      .toArray();
    return Object.fromEntries(found.filter(({ reads }) => reads).map(({ pod, lane }) => [pod, lane]));
  };
  const reads = (expected: Record<string, string>) =>
    eventually(`lanes: ${JSON.stringify(expected)}`, async () => {
      const found = await lanes();
      return Object.entries(expected).every(([pod, lane]) => found[pod] === lane);
    });
  const submitAll = () =>
    Promise.all(
      Array.from({ length: JOBS }, async (_, n) => {
        const { client } = tenants[n % ACCOUNTS]!;
        const id = await client.submit({ html: `<p>number ${n}</p>`, options: { delayMs: 100 } });
        return { id, client };
      }),
    );
  const assertAllWhole = async (jobs: Awaited<ReturnType<typeof submitAll>>) => {
    for (const { id, client } of jobs) {
      const record = await client.end(id, 120_000);
      assert.equal(record.status, 'completed', JSON.stringify(record));
    }
    await assertNothingHeld(connection);
  };

  it('loses nothing, and has one lane for each worker', async () => {
    await reads({ 'worker-1': 'default:0', 'worker-2': 'default:1' });
    await assertAllWhole(await submitAll());

    // Stands still for longer than it may be silent: another worker gets its lane and its jobs.
    const first = service.roles.get('worker-1')!;
    const around = await submitAll();
    process.kill(first.pid, 'SIGSTOP');
    try {
      const meanwhile = await submitAll();
      await eventually('its lane is free', async () => {
        const record = await connection.collection('workers').findOne({ pod: 'worker-1' });
        return Date.now() - Number(record?.seenAt) > 11_000;
      });
      await service.restart('worker-3');
      await reads({ 'worker-3': 'default:0', 'worker-2': 'default:1' });
      await assertAllWhole([...around, ...meanwhile]);
    } finally {
      process.kill(first.pid, 'SIGCONT');
    }
    await reads({ 'worker-1': 'default:2', 'worker-2': 'default:1', 'worker-3': 'default:0' });
    await assertAllWhole(await submitAll());

    // Killed, with pointers in its lane.
    const killed = await submitAll();
    await service.roles.get('worker-3')!.end('SIGKILL');
    await assertAllWhole([...killed, ...(await submitAll())]);

    // Ends in order: what is on its way to it goes to others, and its lane is free at once.
    const ending = submitAll();
    await service.roles.get('worker-2')!.end();
    assert.deepEqual(Object.keys(await lanes()).includes('worker-2'), false);
    await assertAllWhole([...(await ending), ...(await submitAll())]);
  });
});
