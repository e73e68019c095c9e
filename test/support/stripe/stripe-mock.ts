import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { eventually } from '../eventually.ts';
import { BIN } from '../kubernetes/program.ts';
import { freePort } from '../ports.ts';

const COMMAND = join(BIN, 'stripe-mock');

export interface StripeMock {
  readonly url: string;
  close(): Promise<void>;
}

/** Starts stripe-mock, which holds requests against Stripe's specification and keeps no state. */
export async function startStripeMock(): Promise<StripeMock> {
  const port = await freePort();
  const child: ChildProcess = spawn(COMMAND, ['-http-addr', `127.0.0.1:${port}`], { stdio: 'ignore' });
  const failed = once(child, 'error').then(([error]) => {
    throw new Error('stripe-mock does not start: run `make stripe-mock`.', { cause: error });
  });
  const url = `http://127.0.0.1:${port}`;
  const responses = () =>
    fetch(url).then(
      () => true,
      () => false,
    );
  await Promise.race([failed, eventually('stripe-mock answers', responses)]);
  failed.catch(() => undefined);
  return {
    url,
    close: async () => {
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}
