import type { Account } from './account-store.ts';

/** Whether the operator of the service has created an account: nobody else can create one without a password. */
export function madeByOperator({ byOperator, passwordHash, login }: Account): boolean {
  return byOperator === true || (passwordHash === null && login !== undefined);
}

/** The error message when a key is to be created for an address whose account was registered by somebody else. */
export function foreignAccountMessage(email: string): string {
  return (
    `somebody else has registered ${email}, and would be given the key. Name another address, or end all that they ` +
    `have of the account with \`platen accounts reset-password ${email} --revoke-keys\`.`
  );
}
