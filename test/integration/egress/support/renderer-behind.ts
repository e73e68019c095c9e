import pino from 'pino';
import type { EgressProxy } from '../../../../src/infra/egress/proxy.ts';
import { createChromiumRenderer } from '../../../../src/render/chromium/create-chromium-renderer.ts';
import { createPdfFinisher } from '../../../../src/render/pdf/finish.ts';
import type { Renderer } from '../../../../src/render/renderer.ts';

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
