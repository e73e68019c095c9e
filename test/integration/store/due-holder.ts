import { pino } from 'pino';
import { connectDatabase } from '../../../src/infra/store/connection.ts';
import { StillClock } from '../../support/still-clock.ts';
import { openTasks } from './due-tasks.ts';

/*
 * A process that claims what is due, says so, and ends its claim when it is told to:
 *
 *   due-holder.ts <database> <epoch milliseconds>
 */
const connection = await connectDatabase(process.argv[2] ?? '', pino({ level: 'silent' }));
const tasks = openTasks(connection, new StillClock(Number(process.argv[3])));
const [seen] = await tasks.due(1);
const claimed = await tasks.claim(seen!);
process.on('message', async () => {
  const finished = await tasks.finish(claimed!, { $set: { outcome: 'late' } });
  process.send!({ finished }, () => process.exit(0));
});
process.send!({ claimed: claimed!._id });
