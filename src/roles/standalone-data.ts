import { randomBytes } from 'node:crypto';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Config, ConfigError } from '../config/config.ts';
import type { NewAccount } from '../tenants/accounts/account-service.ts';
import { foreignAccountMessage, madeByOperator } from '../tenants/accounts/operator-accounts.ts';
import { BY_OPERATOR } from '../tenants/audit/audit-log.ts';
import type { NewKey } from '../tenants/keys/key-store.ts';
import type { Services } from './services.ts';

/** How the owner of the first account signs in. */
export interface FirstKey {
  /** The file with the first key. */
  readonly keyFile: string;
  /** The key itself, if it was made just now. */
  readonly madeKey: string | undefined;
  readonly signInToken: string;
}

const FIRST_ACCOUNT: NewAccount = { email: 'owner@localhost.localdomain', password: null, plan: 'business' };

/** The data folder's own secret, made at the first start. */
export async function standaloneSecret(dataDir: string): Promise<string> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  return readOrMake(join(dataDir, 'secret'), () => randomBytes(32).toString('base64url'));
}

/** The account and key of a service without a bootstrap account. @throws ConfigError for a known address. */
export async function firstAccount({
  config,
  tenants: { accountService, keys, keyService, signIn },
}: Pick<Services, 'tenants'> & {
  readonly config: Pick<Config, 'PLATEN_DATA_DIR'>;
}): Promise<FirstKey> {
  const keyFile = join(config.PLATEN_DATA_DIR, 'first-api-key');
  const { account } = await accountService.findOrCreate(FIRST_ACCOUNT, BY_OPERATOR);
  if (!madeByOperator(account)) throw new ConfigError([foreignAccountMessage(FIRST_ACCOUNT.email)]);
  const signInToken = await signIn.offerLink(account);
  const kept = await readFile(keyFile, 'utf8').catch(() => undefined);
  if (kept !== undefined && (await keys.findBySecret(kept.trim())) !== undefined)
    return { keyFile, madeKey: undefined, signInToken };
  const fields: NewKey = { name: 'first', mode: 'live', allowedIps: [] };
  const { secret } = await keyService.create(account, fields, BY_OPERATOR);
  await mkdir(config.PLATEN_DATA_DIR, { recursive: true, mode: 0o700 });
  await writeFile(keyFile, `${secret}\n`, { mode: 0o600 });
  return { keyFile, madeKey: secret, signInToken };
}

/**
 * Announces the address of a data folder's embedded database while it runs, so that `platen accounts` can use it at the
 * same time.
 *
 * @returns a function that withdraws the announcement.
 */
export async function announceDatabase(dataDir: string, uri: string): Promise<() => Promise<void>> {
  await writeFile(addressFile(dataDir), `${uri}\n`, { mode: 0o600 });
  return () => rm(addressFile(dataDir), { force: true });
}

/** The last announcement: true only while another process has the data open. */
export async function announcedDatabase(dataDir: string): Promise<string | undefined> {
  return (await readFile(addressFile(dataDir), 'utf8').catch(() => undefined))?.trim();
}

function addressFile(dataDir: string): string {
  return join(dataDir, 'database-uri');
}

async function readOrMake(path: string, make: () => string): Promise<string> {
  try {
    // `wx`: of two processes that start at once one makes it, and both use the same.
    await writeFile(path, `${make()}\n`, { flag: 'wx', mode: 0o600 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  return (await readFile(path, 'utf8')).trim();
}
