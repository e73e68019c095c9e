import pino from 'pino';
import { createChromiumRenderer } from '../../../../src/chromium/create-chromium-renderer.ts';
import type { Renderer } from '../../../../src/chromium/renderer.ts';
import type { EgressProxy } from '../../../../src/egress/proxy.ts';
import { createPdfFinisher } from '../../../../src/pdf/finish.ts';

/** A renderer with a real browser, whose way to the network is `proxy`. */
export function rendererBehind(proxy: EgressProxy, slots: number, userDataRoot: string): Promise<Renderer> {
  return createChromiumRenderer({
    browserPath: process.env.PLATEN_CHROMIUM_PATH,
    slots,
    isolation: 'account',
    proxyUrl: proxy.url,
    egress: proxy,
    finisher: createPdfFinisher({ processes: 1 }),
    logger: pino({ level: 'silent' }),
    userDataRoot,
  });
}
