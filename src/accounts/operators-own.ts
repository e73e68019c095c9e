import type { Account } from './account-store.ts';

/** Whether whoever operates the service has made an account: nobody registers one without a password. */
export function madeByOperator({ byOperator, passwordHash, login }: Account): boolean {
  return byOperator === true || (passwordHash === null && login !== undefined);
}

/** What is told of an address whose account is to be given a key, and is somebody else's. */
export function notOurs(email: string): string {
  return (
    `somebody else has registered ${email}, and would be given the key. Name another address, or end all that they ` +
    `have of the account with \`platen accounts reset-password ${email} --revoke-keys\`.`
  );
}
