/** Starts an embedded database in the given folder, prints its pid and address, and does nothing more: to be killed. */
import { pino } from 'pino';
import { startEmbeddedDatabase } from '../../src/infra/embedded-database/start-embedded.ts';

const database = await startEmbeddedDatabase({
  dataDir: process.argv[2]!,
  logger: pino({ level: 'silent' }),
});
console.log(JSON.stringify({ pid: database.pid, uri: database.uri }));
setInterval(() => {}, 60_000);
