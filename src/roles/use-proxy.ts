import http from 'node:http';
import type { Config } from '../config/config.ts';

/** What this machine's own processes listen on. */
const LOOPBACK = ['localhost', '127.0.0.1', '[::1]', '::1'];

/**
 * Has requests to addresses of the operator (Stripe, the issuer of OIDC) made through the proxy: those of fetch, and of
 * `node:http` and `node:https` with their global agents. Databases and brokers speak other protocols.
 *
 * @returns undoes it.
 */
export function useProxy({
  HTTPS_PROXY: proxy,
  NO_PROXY,
}: Pick<Config, 'HTTPS_PROXY' | 'NO_PROXY'>): () => void {
  if (proxy === undefined) return () => undefined;
  return http.setGlobalProxyFromEnv({ HTTPS_PROXY: proxy, NO_PROXY: [...LOOPBACK, ...NO_PROXY].join(',') });
}
