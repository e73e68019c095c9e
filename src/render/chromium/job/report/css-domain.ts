import type { CDPSession } from 'puppeteer';

/**
 * Calls `work` while Chromium's CSS domain is enabled. Requests are blocked meanwhile: the domain would fetch each style
 * sheet once more that may not be cached.
 */
export async function withCssDomain<T>(session: CDPSession, work: () => Promise<T>): Promise<T> {
  await Promise.all([
    session.send('Network.setBlockedURLs', { urls: ['*'] }),
    session.send('DOM.enable'),
    session.send('CSS.enable'),
    session.send('DOM.getDocument', { depth: 0 }),
  ]);
  try {
    return await work();
  } finally {
    session.send('CSS.disable').catch(() => undefined);
    session.send('Network.setBlockedURLs', { urls: [] }).catch(() => undefined);
    session.send('DOM.disable').catch(() => undefined);
  }
}
