import { newEmail, signUp } from '../../support/account-client.ts';
import { sharedStandaloneService, type TestService } from '../../support/service.ts';
import { type SeededAccount, seedAccount } from './seeded-account.ts';
import { Visitor } from './visitor.ts';

/** The owner of an account after an ordinary week, signed in; the caller closes the visitor. */
export async function openSeededVisitor(): Promise<{
  service: TestService;
  seeded: SeededAccount;
  visitor: Visitor;
}> {
  const service = await sharedStandaloneService();
  const seeded = await seedAccount(service);
  return { service, seeded, visitor: await openSignedIn(service.url, seeded.email) };
}

/** The owner of an account that has just been made, signed in; the caller closes the visitor. */
export async function openNewVisitor(): Promise<Visitor> {
  const { url } = await sharedStandaloneService();
  const email = newEmail();
  await signUp(url, email);
  return await openSignedIn(url, email);
}

async function openSignedIn(url: string, email: string): Promise<Visitor> {
  const visitor = await Visitor.open(url);
  await visitor.signIn(email);
  // That nobody was signed in is asked of the API, which says so with a 401.
  visitor.complaints.length = 0;
  return visitor;
}
