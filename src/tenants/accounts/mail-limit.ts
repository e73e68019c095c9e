import { createHash } from 'node:crypto';
import type { Connection } from 'mongoose';
import type { Clock } from '../../infra/clock.ts';
import { type CountedWindows, WindowCounter } from '../../infra/store/fixed-window.ts';
import { countedNetworks, siteOf } from '../limits/network-of.ts';
import type { MailedPurpose } from './account-links.ts';

/** What a counted mail is for. */
type CountedPurpose = MailedPurpose | 'team-invitation';

/** Mails that one network may request an hour; an IPv6 /48 may request ten times as many. */
const MAILS_OF_NETWORK = 20;
/** Mails of one purpose to one address an hour, from one IPv4 address or one IPv6 /48. */
const MAILS_TO_ADDRESS = 3;
/** How many times as many there may be from all networks: no single network uses up the mails of an address. */
const EVERYWHERE_TIMES = 5;

const MAILS: CountedWindows = {
  spec: {
    name: 'recovery_mails',
    account: { none: 'counts by hashes of addresses, for an hour' },
    indexes: [{ fields: { expiresAt: 1 } }],
  },
  fields: { count: 'mails', end: 'expiresAt' },
  lengthMs: 3_600_000,
};

/** Counts requested mails, over all processes, whether or not their addresses have accounts. */
export class MailLimit extends WindowCounter {
  /** To be created before the connection's indexes. */
  constructor(connection: Connection, clock: Clock) {
    super(connection, clock, MAILS);
  }

  /**
   * Counts one mail. The purposes are counted separately: whoever has registered somebody else's address may have mails
   * sent that confirm it, and these must not use up the mails for a new password.
   *
   * @param email in lower case.
   * @param client the IP address of the request; undefined when the connection is closed already.
   * @throws PlatenError TOO_MANY_MAILS with the time until the next mail may be requested.
   */
  async count(email: string, purpose: CountedPurpose, client: string | undefined): Promise<void> {
    const counted = [
      ...countedNetworks(client, MAILS_OF_NETWORK),
      { kind: `${purpose} address-and-site`, name: `${email}\n${siteOf(client)}`, bound: MAILS_TO_ADDRESS },
      { kind: `${purpose} address`, name: email, bound: EVERYWHERE_TIMES * MAILS_TO_ADDRESS },
    ];
    // One after the other: a network that is rejected must not count against addresses.
    for (const { kind, name, bound } of counted) {
      const key = `${kind} ${createHash('sha256').update(name).digest('base64url')}`;
      await this.countWithin(key, bound, 'TOO_MANY_MAILS');
    }
  }
}
