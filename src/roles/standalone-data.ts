import { randomBytes } from 'node:crypto';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { NewAccount } from '../accounts/account-service.ts';
import { madeByOperator, notOurs } from '../accounts/operators-own.ts';
import { BY_OPERATOR } from '../audit/audit-log.ts';
import { type Config, ConfigError } from '../config.ts';
import type { NewKey } from '../keys/key-store.ts';
import type { ApiServices } from './api-services.ts';

/** Where the first key is kept, and the key itself if it was made just now. */
export interface FirstKey {
  readonly keyFile: string;
  readonly madeKey: string | undefined;
}

const FIRST_ACCOUNT: NewAccount = { email: 'owner@localhost.localdomain', password: null, plan: 'business' };

/** The data folder's own secret, made at the first start. */
export async function standaloneSecret(dataDir: string): Promise<string> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  return readOrMake(join(dataDir, 'secret'), () => randomBytes(32).toString('base64url'));
}

/**
 * The first account of a standalone service that was given none, and its key.
 *
 * @returns the file that holds the key, and the key itself if it was made just now.
 * @throws ConfigError when somebody has registered its address before.
 */
export async function firstAccount({
  config,
  keys,
  accountServices,
}: Pick<ApiServices, 'keys' | 'accountServices'> & {
  readonly config: Pick<Config, 'PLATEN_DATA_DIR'>;
}): Promise<FirstKey> {
  const keyFile = join(config.PLATEN_DATA_DIR, 'first-api-key');
  const { accountService, keyService } = accountServices;
  const { account } = await accountService.findOrCreate(FIRST_ACCOUNT, BY_OPERATOR);
  if (!madeByOperator(account)) throw new ConfigError([notOurs(FIRST_ACCOUNT.email)]);
  const kept = await readFile(keyFile, 'utf8').catch(() => undefined);
  if (kept !== undefined && (await keys.findBySecret(kept.trim())) !== undefined)
    return { keyFile, madeKey: undefined };
  const fields: NewKey = { name: 'first', mode: 'live', allowedIps: [] };
  const { secret } = await keyService.create(account._id, fields, BY_OPERATOR);
  await mkdir(config.PLATEN_DATA_DIR, { recursive: true, mode: 0o700 });
  await writeFile(keyFile, `${secret}\n`, { mode: 0o600 });
  return { keyFile, madeKey: secret };
}

/**
 * Says where the embedded database of a data folder is while it runs, so that `platen accounts` can use it beside us.
 *
 * @returns takes it back.
 */
export async function announceDatabase(dataDir: string, uri: string): Promise<() => Promise<void>> {
  await writeFile(addressFile(dataDir), `${uri}\n`, { mode: 0o600 });
  return () => rm(addressFile(dataDir), { force: true });
}

/** What was announced last: true only while another process has the data open. */
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
