import { PDFDocument } from '@cantoo/pdf-lib';
import { pino } from 'pino';
import { systemClock } from '../../../src/infra/clock.ts';
import { createPdfFinisher } from '../../../src/render/pdf/finish.ts';
import { MARKER } from '../../../src/render/seal/placeholder.ts';
import { createKeySigner } from '../../../src/render/seal/signer.ts';
import { askDigestServer } from '../../../src/work/seals/digest-server.ts';
import { createExchange } from '../../../src/work/seals/exchange.ts';
import { askRevocationServers } from '../../../src/work/seals/revocation-servers.ts';
import { askTimestampAuthority } from '../../../src/work/seals/timestamp-authority.ts';
import { createSealer } from '../../../src/worker/seal-pdf.ts';
import { testAgent } from '../callbacks/support.ts';

/** Secrets that sign requests for a signature. */
export const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
export const JOB = { _id: '01990000-0000-7000-8000-000000000001', accountId: 'account-a', attempts: 1 };

export interface Rig {
  /** A PDF with a place for its seal. @param of the PDF that gets it; by default one of a page. */
  place(
    texts?: {
      readonly reason?: string;
      readonly location?: string;
      readonly bytes?: number;
    },
    of?: Uint8Array,
  ): Promise<Uint8Array>;
  readonly sealer: ReturnType<typeof createSealer>;
  /** What was told about keys, and what was counted. */
  readonly logged: string[];
  readonly counted: string[];
  readonly waiting: number[];
  close(): Promise<void>;
}

/** Seals as a worker does, without the browser. @param timeoutMs for a request to a server. */
export function openRig(folder: string | undefined, timeoutMs = 10_000): Rig {
  const logged: string[] = [];
  const counted: string[] = [];
  const waiting: number[] = [];
  const logger = pino({ level: 'trace' }, { write: (line: string) => void logged.push(line) });
  const finisher = createPdfFinisher({ processes: 1 });
  const signer = createKeySigner({ folder, logger });
  const agent = testAgent();
  const exchange = createExchange(agent, { timeoutMs, random: () => 0 });
  const keys = {
    signing: async () => [{ id: 'key-1', secret: SECRET, createdAt: new Date(), expiresAt: null }],
  };
  const server = { exchange, keys, clock: systemClock, headerPrefix: 'X-Service-' };
  const sealer = createSealer({
    signer,
    ask: (asked) => askDigestServer(server, asked),
    stamp: (asked) => askTimestampAuthority(exchange, asked),
    askRevocation: (asks, where) => askRevocationServers(exchange, asks, where),
    finisher,
    onWaiting: (seals) => void waiting.push(seals),
    observe: (key, outcome) => void counted.push(`${key} ${outcome}`),
  });
  return {
    async place({ bytes = 24 * 1024, ...texts } = {}, of) {
      const argument = { marker: MARKER, bytes, at: Date.now(), ...texts };
      const { pdf } = await finisher.finish(of ?? (await onePage()), { steps: [{ step: 'seal', argument }] });
      return pdf;
    },
    ...{ sealer, logged, counted, waiting },
    async close() {
      await Promise.all([signer.close(), finisher.close(), agent.destroy()]);
    },
  };
}

async function onePage(): Promise<Uint8Array> {
  const document = await PDFDocument.create();
  document.addPage().drawText('To be sealed.');
  return await document.save();
}
