import type { Account } from '../accounts/account-store.ts';
import { hashPassword, verifyPassword } from '../accounts/password.ts';
import type { AuditAction } from '../audit/audit-log.ts';
import { type Config, ConfigError } from '../config.ts';
import { modeOf } from '../keys/secret.ts';
import type { Platform } from './platform.ts';

type BootstrapParts = Pick<Platform, 'accounts' | 'keys' | 'logger' | 'accountServices' | 'plans'>;
type BootstrapConfig = Pick<
  Config,
  | 'PLATEN_BOOTSTRAP_EMAIL'
  | 'PLATEN_BOOTSTRAP_PASSWORD'
  | 'PLATEN_BOOTSTRAP_PLAN'
  | 'PLATEN_BOOTSTRAP_API_KEY'
>;

/**
 * Makes the account that PLATEN_BOOTSTRAP_* describes. Doing it again with the same values changes nothing; a changed
 * password or plan is taken over, as if an operator had changed it.
 *
 * @throws ConfigError when there is no such plan; an error when the given key is another account's.
 */
export async function bootstrapAccount(parts: BootstrapParts, config: BootstrapConfig): Promise<void> {
  const email = config.PLATEN_BOOTSTRAP_EMAIL;
  if (email === undefined) return;
  checkPlan(parts, config.PLATEN_BOOTSTRAP_PLAN);
  const account = (await parts.accounts.findByEmail(email)) ?? (await makeAccount(parts, config, email));
  await takeOverPlan(parts, account, config.PLATEN_BOOTSTRAP_PLAN);
  await takeOverPassword(parts, account, config.PLATEN_BOOTSTRAP_PASSWORD);
  await takeOverKey(parts, account, config.PLATEN_BOOTSTRAP_API_KEY);
}

function checkPlan({ plans }: BootstrapParts, plan: string): void {
  if (plans.has(plan)) return;
  throw new ConfigError([`PLATEN_BOOTSTRAP_PLAN: ${plan} is no plan; ${plans.names().join(', ')} are`]);
}

async function makeAccount(
  parts: BootstrapParts,
  { PLATEN_BOOTSTRAP_PASSWORD: password, PLATEN_BOOTSTRAP_PLAN: plan }: BootstrapConfig,
  email: string,
): Promise<Account> {
  const hash = password === undefined ? null : await hashPassword(password);
  const made = await parts.accounts.create(email, hash, plan);
  if (made !== undefined) {
    parts.logger.info({ plan }, 'bootstrap account made');
    await record(parts, made, 'account.registered', { plan });
  }
  // Another process may have made it at the same time.
  const account = made ?? (await parts.accounts.findByEmail(email));
  if (account === undefined) throw new Error('The bootstrap account could not be made.');
  return account;
}

async function takeOverPlan(parts: BootstrapParts, account: Account, plan: Account['plan']): Promise<void> {
  if (account.plan === plan) return;
  await parts.accounts.setPlan(account._id, plan);
  await record(parts, account, 'account.plan_changed', { from: account.plan, to: plan });
}

/** A new password ends the account's tokens: whoever had the old one may have one. */
async function takeOverPassword(
  parts: BootstrapParts,
  account: Account,
  password: string | undefined,
): Promise<void> {
  if (password === undefined || (await verifyPassword(password, account.passwordHash))) return;
  await parts.accounts.setPasswordHash(account._id, await hashPassword(password));
  await record(parts, account, 'account.password_reset', {});
  await parts.accounts.endTokens(account._id);
  await parts.accountServices.tokens.deleteOf(account._id);
  await record(parts, account, 'account.tokens_revoked', {});
}

async function takeOverKey(
  parts: BootstrapParts,
  account: Account,
  secret: string | undefined,
): Promise<void> {
  const { keys } = parts;
  if (secret === undefined) return;
  const known = await keys.findBySecret(secret);
  if (known !== undefined && known.accountId !== account._id) {
    throw new Error('PLATEN_BOOTSTRAP_API_KEY: the key belongs to another account.');
  }
  if (known !== undefined) return;
  const mode = modeOf(secret) ?? 'live';
  try {
    const { key } = await keys.create(account._id, { name: 'bootstrap', mode, allowedIps: [], secret });
    await record(parts, account, 'key.created', { name: key.name, mode, prefix: key.prefix }, key._id);
  } catch (error) {
    if ((await keys.findBySecret(secret))?.accountId !== account._id) throw error;
  }
}

function record(
  { accountServices }: BootstrapParts,
  { _id }: Account,
  action: AuditAction,
  details: Record<string, string>,
  targetId?: string,
): Promise<void> {
  return accountServices.audit.record({
    accountId: _id,
    action,
    actor: 'operator',
    details,
    ...(targetId !== undefined && { targetId }),
  });
}
