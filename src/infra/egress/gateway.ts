import type { Socket } from 'node:net';
import { systemClock } from '../clock.ts';
import { EgressError, type EgressErrorCode } from './errors.ts';
import type { Target } from './host.ts';
import { RecentHosts } from './recent-hosts.ts';
import { WayOut, type WayOutOptions } from './way-out.ts';

/** How long, and for how many hosts, a rejection is remembered: well past the longest render. */
const MEMORY = { ttlMs: 10 * 60_000, capacity: 10_000 };

interface EgressMetrics {
  /** The outcome of a requested connection; `proxy` for the operator's own proxy, which has failed or refused. */
  outcome(outcome: 'connected' | 'proxy' | EgressErrorCode): void;
}

interface EgressLogger {
  info(fields: object, message: string): void;
  debug(fields: object, message: string): void;
}

export interface GatewayOptions extends WayOutOptions {
  readonly logger: EgressLogger;
  readonly metrics?: EgressMetrics | undefined;
}

/** Opens connections to the outside, each looked up once and checked, and remembers the hosts that it has refused. */
export class Gateway {
  readonly #options: GatewayOptions;
  readonly #wayOut: WayOut;
  readonly #blocked: RecentHosts;
  readonly #unresolvable: RecentHosts;

  constructor(options: GatewayOptions) {
    this.#options = options;
    this.#wayOut = new WayOut(options);
    this.#blocked = new RecentHosts({ clock: systemClock, ...MEMORY });
    this.#unresolvable = new RecentHosts({ clock: systemClock, ...MEMORY });
  }

  /**
   * A connection to a checked address of `target`.
   *
   * @param timeoutMs longest wait for name servers, and again for the connection.
   * @param signal ends the attempt, and later the connection.
   * @param account the account whose document wants it, where that is known.
   * @throws EgressError
   */
  async reach(target: Target, timeoutMs: number, signal: AbortSignal, account?: string): Promise<Socket> {
    try {
      const socket = await this.#wayOut.reach(target, { timeoutMs, signal, account });
      this.#options.metrics?.outcome('connected');
      return socket;
    } catch (error) {
      // An attempt that was aborted before its result has no outcome, unless the policy had refused it.
      if (error instanceof EgressError && (error.code !== 'unreachable' || !signal.aborted)) {
        this.#note(target, error);
      }
      throw error;
    }
  }

  /** As reported to the customer: a name whose address was refused is `wasUnresolvable`. */
  wasBlocked(hostname: string, sinceEpochMs: number): boolean {
    return this.#blocked.hasSince(hostname, sinceEpochMs);
  }

  wasUnresolvable(hostname: string, sinceEpochMs: number): boolean {
    return this.#unresolvable.hasSince(hostname, sinceEpochMs);
  }

  #note({ host, port }: Target, { code: reported, detail, refused, byProxy }: EgressError): void {
    const problem = byProxy ? 'proxy' : refused ? 'blocked' : reported;
    const fields = { host: host.text, port, code: problem, detail };
    this.#options.metrics?.outcome(problem);
    if (reported === 'blocked') this.#blocked.add(host.text);
    if (reported === 'unresolvable') this.#unresolvable.add(host.text);
    if (refused) this.#options.logger.info(fields, 'egress refused');
    else this.#options.logger.debug(fields, 'egress failed');
  }
}
