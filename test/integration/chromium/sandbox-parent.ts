import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { createChromiumRenderer } from '../../../src/render/chromium/create-chromium-renderer.ts';
import type { SandboxPolicy } from '../../../src/render/chromium/process/sandbox-check.ts';
import { createPdfFinisher } from '../../../src/render/pdf/finish.ts';

/**
 * Starts a renderer with the policy and the browser of its arguments, and prints what it found, or why it did not start.
 * It ends when its stdin does.
 */
const [, , policy, browserPath] = process.argv;
const log: unknown[] = [];
const logger = pino({ level: 'info' }, { write: (line: string) => void log.push(JSON.parse(line)) });
const renderer = await createChromiumRenderer({
  slots: 1,
  isolation: 'account',
  sandbox: policy as SandboxPolicy,
  browserPath,
  // A page that is there for as long as the process is.
  contextsAhead: 1,
  finisher: createPdfFinisher({ processes: 1 }),
  logger,
  userDataRoot: join(tmpdir(), `platen-sandbox-test-${process.getuid?.()}`),
}).catch((error: Error) => error);
const result = renderer instanceof Error ? { error: renderer.message } : { found: renderer.browser };
process.stdout.write(`${JSON.stringify({ ...result, log })}\n`);
process.stdin.on('data', () => {});
process.stdin.once('end', async () => {
  if (!(renderer instanceof Error)) await renderer.close();
  process.exit(0);
});
