import type { Config } from '../config/config.ts';
import { createAddressPolicy, machineAddresses } from '../infra/egress/address-policy.ts';
import { parseNetworks } from '../infra/egress/networks.ts';
import { upstreamProxy } from '../infra/egress/upstream-proxy.ts';
import type { WayOutOptions } from '../infra/egress/way-out.ts';

type Settings = Pick<
  Config,
  'PLATEN_ALLOWED_PRIVATE_NETWORKS' | 'HTTPS_PROXY' | 'NO_PROXY' | 'PLATEN_PROXY_LOOKUP'
>;

/** What this process's connections to addresses of customers are held to. */
export function wayOutOf(config: Settings): WayOutOptions {
  return {
    policy: createAddressPolicy({
      allowedNetworks: parseNetworks(config.PLATEN_ALLOWED_PRIVATE_NETWORKS),
      ownAddresses: machineAddresses(),
    }),
    upstream: upstreamProxy(config.HTTPS_PROXY, config.NO_PROXY, config.PLATEN_PROXY_LOOKUP),
  };
}
