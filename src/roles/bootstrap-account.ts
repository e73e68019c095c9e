import { hashPassword, verifyPassword } from '../accounts/password.ts';
import type { Config } from '../config.ts';
import { modeOf } from '../keys/secret.ts';
import type { Platform } from './platform.ts';

/**
 * Makes the account that PLATEN_BOOTSTRAP_* describes. Doing it again with the same values changes nothing; a changed
 * password or plan is taken over.
 *
 * @throws when the given key is another account's.
 */
export async function bootstrapAccount(platform: Platform, config: Config): Promise<void> {
  const email = config.PLATEN_BOOTSTRAP_EMAIL;
  if (email === undefined) return;
  const { accounts, keys, logger } = platform;
  const password = config.PLATEN_BOOTSTRAP_PASSWORD;
  const existing = await accounts.findByEmail(email);
  if (existing === undefined) {
    const hash = password === undefined ? null : await hashPassword(password);
    await accounts.create(email, hash, config.PLATEN_BOOTSTRAP_PLAN);
    logger.info({ plan: config.PLATEN_BOOTSTRAP_PLAN }, 'bootstrap account made');
  }
  // Another process may have made it at the same time.
  const account = existing ?? (await accounts.findByEmail(email));
  if (account === undefined) throw new Error('The bootstrap account could not be made.');
  if (account.plan !== config.PLATEN_BOOTSTRAP_PLAN)
    await accounts.setPlan(account._id, config.PLATEN_BOOTSTRAP_PLAN);
  if (password !== undefined && !(await verifyPassword(password, account.passwordHash)))
    await accounts.setPasswordHash(account._id, await hashPassword(password));

  const secret = config.PLATEN_BOOTSTRAP_API_KEY;
  if (secret === undefined) return;
  const known = await keys.findBySecret(secret);
  if (known !== undefined && known.accountId !== account._id) {
    throw new Error('PLATEN_BOOTSTRAP_API_KEY: the key belongs to another account.');
  }
  if (known !== undefined) return;
  const mode = modeOf(secret) ?? 'live';
  try {
    await keys.create(account._id, { name: 'bootstrap', mode, allowedIps: [], secret });
  } catch (error) {
    if ((await keys.findBySecret(secret))?.accountId !== account._id) throw error;
  }
}
