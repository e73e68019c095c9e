import type { Request } from 'express';
import ipaddr from 'ipaddr.js';

/**
 * The client's IP address, as trusted proxies in front report it. A mapped IPv4 address (`::ffff:203.0.113.7`), which a
 * dual-stack server sees, is returned as IPv4, so that each client has one address.
 *
 * @returns undefined when the connection is closed already.
 */
export function clientAddress({ ip }: Pick<Request, 'ip'>): string | undefined {
  return ip !== undefined && ipaddr.IPv6.isValid(ip) ? ipaddr.process(ip).toString() : ip;
}
