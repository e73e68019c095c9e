import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type QuotaWindow, quotaPeriod } from '../../../src/tenants/plans/quota-period.ts';
import { delivererTo, openPage, openShop } from '../../monitoring/support/billing.ts';
import { PASSWORD } from '../../support/account-client.ts';
import { eventually } from '../../support/eventually.ts';
import { openStandaloneService, type TestService } from '../../support/service.ts';
import { type SeededAccount, seedAccount } from './seeded-account.ts';
import { Visitor } from './visitor.ts';

const OWNER = 'ada@example.com';
const DEVELOPER = 'grace@example.com';
const INVITED = 'accounts@example.com';
const DOMAIN = 'example.com';
/** The plan that is paid for, and how much of its renders is used. */
const PLAN = 'professional';
const USED = 12_180;
const BLOCK = 1000;
const INVOICE = `<!doctype html><style>body { font-family: sans-serif } td { padding: 4px 16px }</style>
<h1>Invoice {{ number }}</h1><table>{% for line in lines %}<tr><td>{{ line.what }}<td>{{ line.price }}{% endfor %}</table>`;
export const SAMPLE = {
  number: '2026-001',
  lines: [
    { what: 'Paper', price: '12.00' },
    { what: 'Ink', price: '34.50' },
  ],
};

/** An account that has a little of everything which the dashboard shows, and its owner, who is signed in. */
export interface Showcase {
  readonly visitor: Visitor;
  readonly seeded: SeededAccount;
  readonly service: TestService;
  /** Something of each kind, by its id. */
  readonly ids: Readonly<Record<'template' | 'render' | 'other' | 'failed' | 'batch', string>>;
  close(): Promise<void>;
}

/**
 * Starts a service with a shop, and gives an account an ordinary week; then real renders, a batch and a draft, a plan and a
 * block that are paid for, members, a domain, an authenticator of passkeys, and alerts.
 *
 * @param before is called with the browser while nobody has signed in.
 */
export async function openShowcase(before: (visitor: Visitor) => Promise<void>): Promise<Showcase> {
  const folder = await mkdtemp(join(tmpdir(), 'platen-showcase-'));
  const plans = join(folder, 'plans.yaml');
  // As they are built in, and not as tests have them.
  await writeFile(plans, 'plans:\n  free: { monthlyRenders: 100 }\n');
  const shop = await openShop();
  const { PLATEN_PUBLIC_URL: _, ...environment } = shop.environment;
  const service = await openStandaloneService({ ...environment, PLATEN_PLANS_FILE: plans });
  // Passkeys are made for a name, and not for an address of the network.
  const visitor = await Visitor.open(`http://localhost:${new URL(service.url).port}`);
  const close = async () => {
    await visitor.close();
    await service.stop();
    await shop.close();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await before(visitor);
    const seeded = await seedAccount(service, OWNER);
    const { client, accountId } = seeded;
    const accounts = service.tenants.connection.collection<{ _id: string }>('accounts');
    await accounts.updateOne({ login: OWNER } as object, { $set: { emailVerifiedAt: new Date() } });
    await client.expect(200, 'PATCH', '/user/account', { name: 'Analytical Engines' });
    const ids = await renderSome(seeded);
    await invite(seeded, service);
    const deliverer = delivererTo(service, shop);
    await client.expect(200, 'POST', '/user/checkout', { plan: PLAN });
    shop.standIn.acts.completeCheckout(openPage(shop.standIn).id);
    await eventually('the plan is in force', async () => {
      await deliverer.deliverAll();
      return (await client.expect(200, 'GET', '/user/plans')).current === PLAN;
    });
    await client.expect(200, 'POST', '/user/overage', { blockSize: BLOCK });
    shop.standIn.acts.completeCheckout(openPage(shop.standIn).id);
    await deliverer.deliverAll();
    await client.expect(200, 'POST', '/user/subscription/auto-overage', {
      ...{ enabled: true, blockSize: BLOCK, spendCapCents: 5000 },
    });
    const account = await accounts.findOne<{ quotaWindow: QuotaWindow }>({ login: OWNER } as object);
    const used = { [`quota.${quotaPeriod(new Date(), account?.quotaWindow)}`]: USED };
    await service.tenants.connection
      .collection<{ _id: string }>('ledgers')
      .updateOne({ _id: accountId }, { $set: used });
    await client.expect(201, 'POST', '/user/api-keys', {
      ...{ name: 'Shop', mode: 'live', allowedIps: ['203.0.113.0/24'] },
    });
    await visitor.signIn(OWNER);
    const session = await visitor.page.createCDPSession();
    await session.send('WebAuthn.enable');
    await session.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        ...{ protocol: 'ctap2', transport: 'internal', hasResidentKey: true },
        ...{ hasUserVerification: true, isUserVerified: true, automaticPresenceSimulation: true },
      },
    });
    return { visitor, seeded, service, ids, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function renderSome({ client }: SeededAccount): Promise<Showcase['ids']> {
  const template = await client.expect(201, 'POST', '/user/templates', {
    ...{ name: 'Invoice', content: INVOICE, sampleData: JSON.stringify(SAMPLE, null, 2) },
  });
  const path = `/user/templates/${template.id}`;
  await client.expect(200, 'PATCH', path, {
    ...{ name: 'Invoice of a shop', content: INVOICE, message: 'The name of the shop' },
  });
  const rendered: string[] = [];
  for (const [number, filename] of [
    ['2026-001', 'invoice-2026-001'],
    ['2026-002', 'invoice-2026-002'],
  ]) {
    const body = { templateId: template.id, data: { ...SAMPLE, number }, filename };
    rendered.push((await client.expect(202, 'POST', '/user/renders', body)).jobId);
  }
  const { jobId: failed } = await client.expect(202, 'POST', '/user/renders', {
    html: '<p>x',
    options: { waitForSelector: '#total', timeoutMs: 1000 },
  });
  const items = ['2026-001', '2026-002', '2026-003', '2026-004'].map((number) => ({
    ...{ id: number, templateId: template.id, data: { ...SAMPLE, number } },
  }));
  const options = { failOn: { exception: true }, scripts: ['throw 1'] };
  const wrong = { id: '2026-005', html: '<p>x', options };
  const { jobId: batch } = await client.expect(202, 'POST', '/user/batches', {
    ...{ items: [...items, wrong], notes: 'Invoices of November', mode: 'test' },
  });
  for (const path of [...[...rendered, failed].map((id) => `/user/renders/${id}`), `/user/batches/${batch}`])
    await eventually(
      `${path} has ended`,
      async () =>
        !['queued', 'processing', 'running'].includes((await client.expect(200, 'GET', path)).status),
    );
  return { template: template.id, render: rendered[0]!, other: rendered[1]!, failed, batch };
}

/** One who has come, one who has not, and a domain that is verified. */
async function invite({ client, accountId }: SeededAccount, { url, tenants }: TestService): Promise<void> {
  const { connection } = tenants;
  await client.expect(201, 'POST', '/user/members/invitations', { email: DEVELOPER, role: 'developer' });
  const mails = connection.collection<{ content: { values: { token: string } } }>('mails');
  const query = { to: DEVELOPER, 'content.kind': 'team-invitation' };
  const invited = async () => (await mails.findOne(query as object))?.content.values.token;
  await eventually('the invitation is in the outbox', async () => (await invited()) !== undefined);
  const response = await fetch(`${url}/auth/invitations/accept`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: `http://localhost:${new URL(url).port}` },
    body: JSON.stringify({ token: await invited(), password: PASSWORD }),
  });
  if (!response.ok) throw new Error(`The invitation is not accepted: ${await response.text()}`);
  await client.expect(201, 'POST', '/user/members/invitations', { email: INVITED, role: 'billing' });
  const domain = {
    ...{ _id: `${accountId}:${DOMAIN}`, accountId, domain: DOMAIN, heldDomain: DOMAIN, token: 'x' },
    ...{ issuer: 'https://login.example.com', clientId: 'platen', role: 'viewer', required: false },
    ...{ createdAt: new Date(), verifiedAt: new Date(), ownerFence: 0 },
  };
  await connection.collection<{ _id: string }>('sign_in_domains').insertOne(domain);
}
