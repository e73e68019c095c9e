import type { AccountReader } from './account-store.ts';
import { emailOf } from './addresses.ts';

/** Characters of an account's name. */
export const MAX_ACCOUNT_NAME = 80;

/** Where anybody can have an address: the domain says nothing about whose account it is. */
const MAIL_PROVIDERS = new Set(
  `163.com 126.com aol.com fastmail.com free.fr gmail.com gmx.at gmx.ch gmx.com gmx.de gmx.net googlemail.com hey.com
  hotmail.com icloud.com libero.it live.com mac.com mail.com mail.ru me.com msn.com orange.fr outlook.com pm.me
  posteo.de proton.me protonmail.com qq.com t-online.de tutanota.com web.de yahoo.com yandex.com yandex.ru zoho.com`.split(
    /\s+/,
  ),
);

/**
 * What people call an account: its name, or else the domain of its owner's address, or what stands before the @ of an
 * address at a mail provider.
 */
export function nameOf(
  account: { readonly _id: string; readonly name?: string },
  ownerEmail: string | null,
): string {
  if (account.name !== undefined) return account.name;
  if (ownerEmail === null) return account._id;
  const at = ownerEmail.lastIndexOf('@');
  const domain = ownerEmail.slice(at + 1).toLowerCase();
  return (MAIL_PROVIDERS.has(domain) ? ownerEmail.slice(0, at) : domain).slice(0, MAX_ACCOUNT_NAME);
}

/** How people tell an account from others: by its name and the address of its owner. */
export async function shownAs(
  accounts: Pick<AccountReader, 'find'>,
  account: { readonly _id: string; readonly name?: string },
): Promise<{ readonly name: string; readonly ownerEmail: string | null }> {
  const ownerEmail = await emailOf(accounts, account._id);
  return { name: nameOf(account, ownerEmail), ownerEmail };
}
