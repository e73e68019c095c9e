import pino from 'pino';
import { createChromiumRenderer } from '../../../../src/chromium/chromium-renderer.ts';
import type { Renderer } from '../../../../src/chromium/renderer.ts';
import type { EgressProxy } from '../../../../src/egress/proxy.ts';
import { pageTreeCount } from '../../../../src/pdf/count-pages.ts';

/** A renderer with a real browser, whose way to the network is `proxy`. */
export function rendererBehind(proxy: EgressProxy, slots: number, userDataRoot: string): Promise<Renderer> {
  return createChromiumRenderer({
    slots,
    isolation: 'account',
    proxyUrl: proxy.url,
    egress: proxy,
    finish: async (pdf) => pdf,
    countPages: async (pdf) => pageTreeCount(pdf) ?? 0,
    logger: pino({ level: 'silent' }),
    userDataRoot,
  });
}
