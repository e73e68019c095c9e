import { Agent, request } from 'undici';
import type { OutputOffer } from '../../bus/bus.ts';
import { MOST_OFFERED_BYTES, opened, SEAL_BYTES } from './offers.ts';

/** A worker that is slower than this is not worth waiting for: the store has the PDF by then. Milliseconds. */
const TIMEOUT_MS = 2000;
/** To one worker. */
const CONNECTIONS = 8;

/** Takes the PDFs that workers offer. */
export class OfferTaker {
  readonly #agent = new Agent({ connections: CONNECTIONS, connect: { timeout: TIMEOUT_MS } });

  /** @throws when the worker cannot be reached, has the PDF no more, or sends another one. */
  async take({ url, key }: OutputOffer): Promise<Buffer> {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const { statusCode, headers, body } = await request(url, { dispatcher: this.#agent, signal });
    const size = Number(headers['content-length']);
    if (statusCode !== 200 || !(size <= MOST_OFFERED_BYTES + SEAL_BYTES)) {
      await body.dump();
      throw new Error(`The worker answered ${statusCode} with ${size} bytes.`);
    }
    return opened(Buffer.from(await body.arrayBuffer()), key);
  }

  close(): Promise<void> {
    return this.#agent.destroy();
  }
}
