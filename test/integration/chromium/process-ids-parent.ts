import { stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pino } from 'pino';
import { PlatenError } from '../../../src/infra/errors/registry.ts';
import { createChromiumRenderer } from '../../../src/render/chromium/create-chromium-renderer.ts';
import { createPdfFinisher } from '../../../src/render/pdf/finish.ts';

/**
 * Renders with the browser of its argument. Each line of its stdin is an account, and the milliseconds that it has for a
 * document of the account's; it answers with what came of it, whether it is ready, and why browsers were restarted so far. It ends when its stdin does.
 */
const [, , browserPath] = process.argv;
const restarts: string[] = [];
const renderer = await createChromiumRenderer({
  slots: 2,
  isolation: 'account',
  sandbox: 'off',
  browserPath,
  finisher: createPdfFinisher({ processes: 1 }),
  logger: pino({ level: 'silent' }),
  metrics: {
    browsers: { set: () => undefined },
    browserRestarts: { inc: ({ reason }) => void restarts.push(reason) },
  },
  userDataRoot: join(tmpdir(), `platen-process-ids-test-${process.pid}`),
});
const say = (outcome: string) => {
  const { ready } = renderer.health();
  process.stdout.write(`${JSON.stringify({ outcome, ready, restarts })}\n`);
};
// Node starts its threads for files with the first that it looks at, and ends when it cannot: any worker has done that.
await stat(tmpdir());
say('started');
for await (const line of createInterface({ input: process.stdin })) {
  const [accountId = '', timeoutMs] = line.split(' ');
  const rendering = renderer.render({
    jobId: accountId,
    accountId,
    source: { kind: 'html', html: '<p>x<script>1</script>' },
    options: {},
    deadline: Date.now() + Number(timeoutMs),
    maxOutputBytes: 1e6,
    signal: new AbortController().signal,
  });
  say(
    await rendering.then(
      () => 'done',
      (error) => (error instanceof PlatenError ? error.code : String(error)),
    ),
  );
}
await renderer.close();
process.exit(0);
