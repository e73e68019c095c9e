import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../support/eventually.ts';
import type { Tenant } from '../support/service.ts';
import { stall } from '../support/stall.ts';
import { treeMemory } from '../support/tree-memory.ts';
import type { Arena } from './support/arena.ts';
import { sharedArena } from './support/shared-arena.ts';

const MIB = 1024 ** 2;
const HELD_MS = 2000;
/** Bytes of memory that all downloads may use; the two processes that merge documents of this size take half of it. */
const MEMORY_OF_STREAMS = 450 * MIB;
const END_MS = 60_000;

/** A picture of noise, which cannot be compressed: about 12 MB as a PDF. */
const NOISE = `<canvas id=c width=2000 height=2000></canvas><script>
  const context = c.getContext('2d');
  const image = context.createImageData(2000, 2000);
  const words = new Uint32Array(image.data.buffer);
  for (let i = 0, x = 123456789; i < words.length; i++) {
    x ^= x << 13; x ^= x >>> 17; x ^= x << 5;
    words[i] = x | 0xff000000;
  }
  context.putImageData(image, 0, 0);
</script>`;

/**
 * The number of requests of each kind, and how many of them are sent; the others are rejected. Events are requested first,
 * while their batch is certainly running: for an ended batch no request would be rejected.
 */
const ASKED = {
  events: { asked: 30, sent: 20 },
  zip: { asked: 12, sent: 8 },
  merged: { asked: 6, sent: 2 },
  file: { asked: 40, sent: 32 },
  link: { asked: 24, sent: 16 },
} as const;
type Kind = keyof typeof ASKED;

/** Callers that send as many requests as they may, and never read the responses. */
describe('Hostile readers', () => {
  let arena: Arena;

  before(async () => {
    arena = await sharedArena();
  });

  const memory = () => treeMemory([arena.service.roles.get('standalone')!.pid]);

  async function batchOf(client: Tenant['client'], items: object[]): Promise<string> {
    const { status, json } = await client.call('POST', '/v1/pdf/batch', { items });
    assert.equal(status, 202, JSON.stringify(json));
    return `/v1/pdf/batch/${json.jobId}`;
  }

  async function finished(client: Tenant['client'], batch: string): Promise<void> {
    const ended = async () => (await client.call('GET', batch)).json.finishedAt !== null;
    await eventually('the end of the batch', ended, END_MS);
  }

  it('do not delay another account with many concurrent zips, merged PDFs, PDFs and event streams', async () => {
    await arena.withstand(async ({ client }) => {
      const whole = await batchOf(
        client,
        ['a', 'b', 'c'].map((id) => ({ id, html: NOISE })),
      );
      await finished(client, whole);
      // The batch runs during the whole test.
      const slow = ['a', 'b', 'c'].map((id) => ({ id, html: 'x', options: { delayMs: 5000 } }));
      const open = await batchOf(client, slow);
      const link = (await client.call('GET', `${whole}/items/a/download-url`)).json.url;
      const paths: Record<Kind, string> = {
        zip: `${whole}/zip`,
        merged: `${whole}/pdf`,
        events: `${open}/events`,
        file: `${whole}/a`,
        link: new URL(link).pathname,
      };
      const before = memory();
      const responses: IncomingMessage[] = [];
      try {
        for (const kind of Object.keys(ASKED) as Kind[]) {
          const headers = kind === 'link' ? {} : { 'x-api-key': client.key };
          const { asked, sent } = ASKED[kind];
          const request = () => stall(arena.service.url + paths[kind], { headers });
          const own = await Promise.all(Array.from({ length: asked }, request));
          responses.push(...own);
          const counted = Map.groupBy(own, ({ statusCode }) => statusCode);
          assert.deepEqual(
            [kind, counted.get(200)?.length, counted.get(429)?.length],
            [kind, sent, asked - sent],
          );
        }
        let most = 0;
        for (const end = Date.now() + HELD_MS; Date.now() < end; await sleep(100))
          most = Math.max(most, memory());
        const grown = Math.round((most - before) / MIB);
        assert.ok(most - before < MEMORY_OF_STREAMS, `${grown} MiB more than before`);
      } finally {
        for (const response of responses) response.destroy();
      }
      await client.call('DELETE', open);
      await finished(client, open);
      await eventually('room again', async () => (await client.call('GET', paths.zip)).status === 200);
    });
  });
});
