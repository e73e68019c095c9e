import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { KEY_ID } from './seal.ts';

/** A key of the operator, and who may seal with it. */
export interface AssignedKey {
  readonly name: string;
  /** Ids of accounts, or `*`. */
  readonly accounts: readonly string[];
}

/** Of names and lists that are told to others; some 400 accounts. */
const MAX_KEYS = 100;
const MAX_LIST_BYTES = 16 * 1024;
/** The ending of the file with the accounts of a key. */
export const ACCOUNTS = '.accounts';
/** In the list of a key's accounts: all of them. */
const EVERY_ACCOUNT = '*';

/** @param file what NAME.accounts has in it. */
export function accountsIn(file: Uint8Array): string[] {
  return Buffer.from(file)
    .toString()
    .split(/[\s,]+/)
    .filter((account) => account !== '');
}

export function isAssigned(accounts: readonly string[], accountId: string): boolean {
  return accounts.includes(accountId) || accounts.includes(EVERY_ACCOUNT);
}

/**
 * The keys of a folder by their lists of accounts; no file with a key is opened.
 *
 * @param folder undefined where there are no keys.
 * @returns in the order of names; undefined where the folder cannot be read, or has more than 100 keys or 16 KiB of lists.
 */
export async function listAssignedKeys(folder: string | undefined): Promise<AssignedKey[] | undefined> {
  if (folder === undefined) return [];
  try {
    const names = (await readdir(folder))
      .filter((file) => file.endsWith(ACCOUNTS))
      .map((file) => file.slice(0, -ACCOUNTS.length))
      .filter((name) => KEY_ID.test(name))
      .sort();
    if (names.length > MAX_KEYS) return undefined;
    const files = names.map((name) => join(folder, name + ACCOUNTS));
    const sizes = await Promise.all(files.map(async (file) => (await stat(file)).size));
    if (sizes.reduce((sum, size) => sum + size, 0) > MAX_LIST_BYTES) return undefined;
    const lists = await Promise.all(files.map((file) => readFile(file)));
    return names.map((name, i) => ({ name, accounts: accountsIn(lists[i]!) }));
  } catch {
    // It is being replaced, or may not be read: whoever seals finds out.
    return undefined;
  }
}
