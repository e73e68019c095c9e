import type { Request } from 'express';
import ipaddr from 'ipaddr.js';

/**
 * Where a request comes from, as proxies in front tell it as far as they are trusted. An IPv4 address is one, though it
 * comes to a server for both kinds as a mapped one (`::ffff:203.0.113.7`), so that it is known again in whatever form it
 * comes.
 *
 * @returns undefined when the connection is gone already.
 */
export function clientAddress({ ip }: Pick<Request, 'ip'>): string | undefined {
  return ip !== undefined && ipaddr.IPv6.isValid(ip) ? ipaddr.process(ip).toString() : ip;
}
