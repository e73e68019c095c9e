import type { DisabledBecause } from '../mail/mail.ts';

/** What turns auto overage off without its owner having signed in. */
export interface AutoOverage {
  /**
   * Nothing is bought by itself from then on.
   *
   * @returns false when it was off already, or there is no such account.
   */
  disable(accountId: string, because: DisabledBecause): Promise<boolean>;
}

/** Where nothing is ever bought by itself. */
export const NO_AUTO_OVERAGE: AutoOverage = { disable: async () => false };
