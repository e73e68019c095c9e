import type { DisabledBecause } from '../../tenants/mail/mail.ts';

/** Switches auto overage off without its owner having signed in. */
export interface AutoOverage {
  /** From then on none is bought automatically. @returns false when it was off, or there is no such account. */
  disable(accountId: string, because: DisabledBecause): Promise<boolean>;
}

/** For deployments in which nothing is bought automatically. */
export const NO_AUTO_OVERAGE: AutoOverage = { disable: async () => false };
