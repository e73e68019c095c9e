import assert from 'node:assert/strict';
import { pino } from 'pino';
import { warmUp } from '../../../src/worker/warm-up.ts';
import { startMongo } from '../../support/mongo.ts';
import { descendants, startRole } from '../../support/processes.ts';

describe('A process that renders', () => {
  it('is ready when it has rendered a document, and the PDF finisher is running', async () => {
    const standalone = await startRole('standalone', {
      MONGODB_URI: (await startMongo()).uri,
      PLATEN_SECRET: 'a secret for tests, long enough to be one',
      PLATEN_BOOTSTRAP_EMAIL: 'owner@example.com',
      PLATEN_BOOTSTRAP_PASSWORD: 'correct horse battery',
    });
    try {
      await standalone.ready();
      const running = descendants(standalone.pid).map(({ command }) => command);
      const metrics = await (await fetch(`${standalone.url}/metrics`)).text();
      assert.ok(
        running.some((command) => /\bfinish-main\.[jt]s\b/.test(command)),
        running.join('\n'),
      );
      const reported = (name: string) =>
        metrics.split('\n').filter((line) => line.startsWith(`platen_${name}`) && !line.endsWith(' 0'));
      const { length: renders } = reported('browser_context_render_seconds_count{');
      assert.deepEqual([reported('browser_context_leases_total{').length, renders], [1, 1]);
      // It belongs to no account: it is no job, and no page is counted.
      assert.deepEqual([...reported('pages_total'), ...reported('jobs_ended_total')], []);
    } finally {
      await standalone.end();
    }
  });

  it('starts although a document cannot be rendered: its health reports it', async () => {
    const said: string[] = [];
    const logger = pino({ level: 'warn' }, { write: (line: string) => void said.push(line) });
    await warmUp({ render: () => Promise.reject(new Error('no browser at all')) }, logger);
    assert.match(said.join(), /no browser at all/);
  });
});
