import { type Config, ConfigError } from '../config/config.ts';
import type { Account } from '../tenants/accounts/account-store.ts';
import { foreignAccountMessage, madeByOperator } from '../tenants/accounts/operator-accounts.ts';
import { verifyPassword } from '../tenants/accounts/password.ts';
import { BY_OPERATOR } from '../tenants/audit/audit-log.ts';
import type { NewKey } from '../tenants/keys/key-store.ts';
import { modeOf } from '../tenants/keys/secret.ts';
import { unknownPlan } from '../tenants/plans/plan-source.ts';
import type { Core } from './core.ts';
import type { Services } from './services.ts';

type BootstrapDeps = Pick<Core, 'logger' | 'plans'> & Pick<Services, 'tenants'>;
type BootstrapConfig = Pick<Config, `PLATEN_BOOTSTRAP_${'EMAIL' | 'PASSWORD' | 'PLAN' | 'API_KEY'}`>;

/**
 * Makes the account that PLATEN_BOOTSTRAP_* describes. A repetition with the same values changes nothing; a changed
 * password or plan is taken over, as if an operator had changed it.
 *
 * @throws ConfigError when there is no such plan, or the address was registered before; an error when the given key is
 * another account's.
 */
export async function bootstrapAccount(deps: BootstrapDeps, config: BootstrapConfig): Promise<void> {
  const email = config.PLATEN_BOOTSTRAP_EMAIL;
  if (email === undefined) return;
  const { accountService } = deps.tenants;
  const { PLATEN_BOOTSTRAP_PLAN: plan, PLATEN_BOOTSTRAP_PASSWORD: password } = config;
  const problem = unknownPlan(deps.plans, plan);
  if (problem !== undefined) throw new ConfigError([`PLATEN_BOOTSTRAP_PLAN: ${problem}`]);
  const described = { email, password: password ?? null, plan };
  const { account, created } = await accountService.findOrCreate(described, BY_OPERATOR);
  if (created) deps.logger.info({ plan }, 'bootstrap account made');
  else if (!madeByOperator(account))
    throw new ConfigError([`PLATEN_BOOTSTRAP_EMAIL: ${foreignAccountMessage(email)}`]);
  if (account.plan !== plan) await accountService.setPlan(account, plan, BY_OPERATOR);
  if (password !== undefined && !(await verifyPassword(password, account.passwordHash))) {
    await accountService.resetPassword(account, password, BY_OPERATOR);
  }
  if (config.PLATEN_BOOTSTRAP_API_KEY !== undefined) {
    await takeOverKey(deps, account, config.PLATEN_BOOTSTRAP_API_KEY);
  }
}

async function takeOverKey(
  { tenants: { keys, keyService } }: BootstrapDeps,
  account: Account,
  secret: string,
): Promise<void> {
  const known = await keys.findBySecret(secret);
  if (known !== undefined && known.accountId !== account._id) {
    throw new Error('PLATEN_BOOTSTRAP_API_KEY: the key belongs to another account.');
  }
  if (known !== undefined) return;
  const fields: NewKey = { name: 'bootstrap', mode: modeOf(secret) ?? 'live', allowedIps: [], secret };
  try {
    await keyService.create(account, fields, BY_OPERATOR);
  } catch (error) {
    // Another process may have taken the account over at the same moment.
    if ((await keys.findBySecret(secret))?.accountId !== account._id) throw error;
  }
}
