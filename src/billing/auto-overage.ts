import type { DisabledBecause } from '../mail/mail.ts';

/** What turns auto overage off without its owner having signed in. */
export interface AutoOverage {
  /**
   * Nothing is bought by itself from then on, and the owner is told by mail. Done twice it changes nothing more.
   *
   * @returns whether it is off now; false when there is no such account, or it never had any.
   */
  disable(accountId: string, because: DisabledBecause): Promise<boolean>;
}

/** Where nothing is ever bought by itself. */
export const NO_AUTO_OVERAGE: AutoOverage = { disable: async () => false };
