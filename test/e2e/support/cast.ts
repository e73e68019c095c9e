import { hashSecret } from '../../../src/infra/ids/hash-secret.ts';
import { newSecret } from '../../../src/tenants/keys/secret.ts';
import type { PlanName } from '../../../src/tenants/plans/plan.ts';
import type { TestClient } from '../../support/client.ts';
import { eventually } from '../../support/eventually.ts';
import type { TestService } from '../../support/service.ts';

/** An account, with both of its credentials. */
export class Actor {
  readonly accountId: string;
  readonly key: string;
  readonly token: string;
  readonly client: TestClient;
  /** Begins a session of a browser. @returns its id. */
  readonly newSession: () => Promise<string>;
  /** Makes somebody a viewer of the account. @returns the id of the person. */
  readonly newMember: () => Promise<string>;
  /** Gives the account another plan. Resolves when that is in force. */
  readonly moveTo: (plan: PlanName) => Promise<void>;

  constructor(
    accountId: string,
    client: TestClient,
    token: string,
    { newSession, newMember, moveTo }: Pick<Actor, 'newSession' | 'newMember' | 'moveTo'>,
  ) {
    this.newSession = newSession;
    this.newMember = newMember;
    this.moveTo = moveTo;
    this.accountId = accountId;
    this.client = client;
    this.key = client.key;
    this.token = token;
  }

  get headers(): Record<string, string> {
    return { 'x-api-key': this.key, authorization: `Bearer ${this.token}` };
  }

  /** The body of an answer that has to be good. */
  async made(method: string, path: string, body?: unknown) {
    const response = await this.client.call(method, path, body, this.headers);
    if (response.status >= 300)
      throw new Error(`${method} ${path}: ${Buffer.from(response.bytes).toString()}`);
    return response.json;
  }
}

interface Credentials {
  readonly apiKey: readonly Record<string, string>[];
  readonly bearer: readonly Record<string, string>[];
}

/** A plan that keeps no PDFs, where the service has the plans of `PLANS`. */
export const KEEPS_NOTHING: PlanName = 'starter';

/** The plans of tests, one of which keeps no PDFs. */
export const PLANS = {
  business: { requestsPerMinute: 1_000_000, monthlyRenders: 1_000_000, maxWaitingJobs: 1_000_000 },
  [KEEPS_NOTHING]: { retentionHours: 0 },
};

/** Everybody who may come to the door. */
export class Cast {
  readonly owner: Actor;
  readonly stranger: Actor;
  /** A key of the owner that may not be used from here. */
  readonly keyForElsewhere: string;
  readonly newActor: (plan: PlanName) => Promise<Actor>;
  readonly #bad: Credentials;

  private constructor(
    deps: Pick<Cast, 'owner' | 'stranger' | 'keyForElsewhere' | 'newActor'>,
    bad: Credentials,
  ) {
    this.owner = deps.owner;
    this.stranger = deps.stranger;
    this.keyForElsewhere = deps.keyForElsewhere;
    this.newActor = deps.newActor;
    this.#bad = bad;
  }

  /** @param elsewhere the only address that `keyForElsewhere` may be used from. */
  static async assemble(service: TestService, elsewhere: string): Promise<Cast> {
    const { connection, tokens, keys, memberships, accounts } = service.tenants;
    const newActor = async (plan: PlanName): Promise<Actor> => {
      const { accountId, client } = await service.newTenant(plan);
      const browser = { ipAddress: null, userAgent: null };
      const actor: Actor = new Actor(accountId, client, (await tokens.issue(accountId)).token, {
        newSession: async () => hashSecret((await tokens.issue(accountId, browser)).token),
        async newMember() {
          const { accountId: personId } = await service.newTenant('free');
          const fences = { ownerFence: undefined, personFence: undefined };
          await memberships.put({ accountId, personId, role: 'viewer', ...fences });
          return personId;
        },
        async moveTo(other) {
          await accounts.setPlan(accountId, other);
          const inForce = async () => (await actor.made('GET', '/user/plans')).current === other;
          await eventually(`the plan ${other} is in force`, inForce);
        },
      });
      return actor;
    };
    const newKey = (accountId: string, allowedIps: string[]) =>
      keys.create(accountId, { name: 'test', mode: 'live', allowedIps });
    const owner = await newActor('business');
    const { accountId } = owner;

    const revokedKey = await newKey(accountId, []);
    await keys.revoke(accountId, revokedKey.key._id);
    const revokedToken = await tokens.issue(accountId);
    await tokens.revoke(hashSecret(revokedToken.token), accountId, revokedToken.expiresAt);
    const expiredToken = await tokens.issue(accountId);
    await connection
      .collection<{ _id: string; expiresAt: Date }>('access_tokens')
      .updateOne({ _id: hashSecret(expiredToken.token) }, { $set: { expiresAt: new Date(Date.now() - 1) } });

    const deps = {
      owner,
      stranger: await newActor('business'),
      keyForElsewhere: (await newKey(accountId, [elsewhere])).secret,
      newActor,
    };
    return new Cast(deps, {
      apiKey: [
        {},
        ...[
          '',
          'hello',
          'sk_live_',
          owner.token,
          newSecret('live'),
          `${owner.key}0`,
          revokedKey.secret,
        ].flatMap((key): Record<string, string>[] => [
          { 'x-api-key': key },
          { authorization: `Bearer ${key}` },
          { authorization: `Basic ${btoa(`${key}:`)}` },
        ]),
        // A key is a user's name without a password.
        { authorization: `Basic ${btoa(`user:${owner.key}`)}` },
      ],
      bearer: [
        {},
        ...[
          '',
          'Bearer',
          'Bearer ',
          owner.token,
          `Basic ${owner.token}`,
          'Bearer two words',
          `Bearer at_${'x'.repeat(43)}`,
          `Bearer ${owner.token}0`,
          `Bearer ${revokedToken.token}`,
          `Bearer ${expiredToken.token}`,
          `Bearer ${owner.key}`,
          'Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJ4In0.',
        ].map((authorization) => ({ authorization })),
        { 'x-api-key': owner.key },
      ],
    });
  }

  /** Missing, malformed, unknown, expired, revoked, and of the other kind. */
  badCredentials(auth: keyof Credentials): readonly Record<string, string>[] {
    return this.#bad[auth];
  }
}
