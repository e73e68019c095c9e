import { pino } from 'pino';
import type { Mail } from '../../../src/tenants/mail/mail.ts';
import type { MemberRole } from '../../../src/tenants/members/roles.ts';
import { AlertJudge, type AlertJudgeDeps } from '../../../src/work/alerts/alert-judge.ts';
import { newEmail, signUp } from '../../support/account-client.ts';
import { type TestApi, TestCaller } from '../http/support/api.ts';

/** What a dispatcher judges with. */
export function judgeOf(api: TestApi, overrides: Partial<AlertJudgeDeps> = {}): AlertJudge {
  const { domain, tenants, accounts } = api;
  return new AlertJudge({
    ...{ ...domain, ...tenants, accounts, sells: true },
    logger: pino({ level: 'silent' }),
    ...overrides,
  });
}

/** A caller whose owner has confirmed the address. */
export async function ownedCaller(api: TestApi): Promise<TestCaller> {
  const caller = await api.newCaller();
  await api.accounts.setEmailVerified(caller.accountId);
  return caller;
}

/** A confirmed person who belongs to an account. @returns the address. */
export async function addMember(api: TestApi, accountId: string, role: MemberRole) {
  const email = newEmail();
  const person = (await api.accounts.create(email, null, 'free'))!;
  await api.accounts.setEmailVerified(person._id);
  const fences = { ownerFence: undefined, personFence: undefined };
  await api.tenants.memberships.put({ accountId, personId: person._id, role, ...fences });
  return { email, personId: person._id };
}

/** Renders until so many have ended, and everything that follows is written. */
export async function renderMany(api: TestApi, caller: TestCaller, count: number): Promise<void> {
  for (let i = 0; i < count; i += 1) await caller.render({ html: `<p>${i}</p>` });
  await api.domain.flush();
}

export async function mailsTo(api: TestApi, accountId: string): Promise<Mail[]> {
  const mails = api.domain.connection.collection<Mail>('mails');
  return (await mails.find({ accountId }).sort({ createdAt: 1 }).toArray()) as unknown as Mail[];
}

/** The subjects of an account's alerts: kind and percentage, or kind alone. */
export async function alertsOf(api: TestApi, accountId: string): Promise<string[]> {
  const mails = await mailsTo(api, accountId);
  return mails.map(({ content: { kind, values } }) =>
    'percent' in values
      ? `${kind} ${values.percent} of ${'limit' in values ? values.limit : values.capCents}`
      : kind,
  );
}

/** A caller whose owner has registered with an address that nobody has confirmed. */
export async function unconfirmedCaller(api: TestApi): Promise<TestCaller> {
  const owner = await signUp(api.url);
  const { id } = await owner.expect(200, 'GET', '/auth/me');
  await api.accounts.setPlan(id, 'professional');
  const key = { name: 'key', mode: 'live', allowedIps: [] };
  const { id: keyId, apiKey } = await owner.expect(201, 'POST', '/user/api-keys', key);
  return new TestCaller(api.url, id, keyId, apiKey);
}
