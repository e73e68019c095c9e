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
  const visitor = await Visitor.open(service.url);
  await visitor.signIn(seeded.email);
  // That nobody was signed in is asked of the API, which says so with a 401.
  visitor.complaints.length = 0;
  return { service, seeded, visitor };
}
