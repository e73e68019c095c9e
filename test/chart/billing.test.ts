import assert from 'node:assert/strict';
import { BlockList, isIPv6 } from 'node:net';
import { environmentSchema } from '../../src/config/environment.ts';
import { find, HELMS, LEAST, type Manifest, over, render, type Values } from './support/helm.ts';
import { environment } from './support/pods.ts';

const ROLES = ['api', 'dispatcher', 'worker', 'controller'] as const;
/** The roles that need each service: two call Stripe, one gets its events, and one sends mails. */
const NEEDED_BY: Readonly<Record<string, readonly string[]>> = {
  STRIPE_SECRET_KEY: ['api', 'dispatcher'],
  STRIPE_WEBHOOK_SECRET: ['api'],
  STRIPE_API_BASE: ['api', 'dispatcher'],
  SMTP_URL: ['dispatcher'],
  PLATEN_MAIL_FROM: ['dispatcher'],
};
const PUBLIC = { publicUrl: 'https://pdf.example.com' };
const SECRETS = {
  stripe: { secretKey: 'rk_test_hidden', webhookSecret: 'whsec_hidden' },
  mail: { smtpUrl: 'smtp://platen:hidden@mail.example.com:587', from: 'billing@example.com' },
};
const BY_VALUE: Values = over({ config: PUBLIC, stripe: { apiBase: 'http://stand-in.test' } }, SECRETS);
const BY_REFERENCE: Values = {
  config: PUBLIC,
  stripe: {
    existingSecret: { name: 'payments', secretKeyKey: 'key', webhookSecretKey: 'signing' },
    apiBase: 'http://stand-in.test',
  },
  mail: { existingSecret: { name: 'mail', key: 'url' }, from: 'billing@example.com' },
};
/** Addresses of Stripe's API, of mail servers outside and inside the cluster, and of clouds' metadata. */
const OUTSIDE = [
  ['198.202.176.20', 443],
  ['2a02:1388::20', 443],
  ['203.0.113.25', 587],
  ['203.0.113.25', 465],
  ['10.20.0.25', 25],
] as const;
const METADATA = ['169.254.169.254', 'fd00:ec2::254'] as const;

for (const helm of HELMS) {
  const rendered = (values: Values) => render(helm, over(LEAST, values));

  describe(`the chart's billing and mails, with ${helm}`, () => {
    it('are off by default, also with values of an older chart', async () => {
      for (const values of [{}, { stripe: null, mail: null }]) {
        const manifests = await rendered(values);
        for (const role of ROLES) assert.deepEqual(given(manifests, role), {}, role);
        const names = manifests.filter(({ kind }) => kind === 'Secret').map(({ metadata }) => metadata.name);
        assert.deepEqual(names.sort(), ['platen-mongodb']);
      }
    });

    it('get every variable that they have, each in the pods that need it', async () => {
      const known = Object.keys(environmentSchema.shape).filter((name) =>
        /^(STRIPE|SMTP)_|_MAIL_/.test(name),
      );
      assert.deepEqual(known.sort(), Object.keys(NEEDED_BY).sort());
      for (const values of [BY_VALUE, BY_REFERENCE]) {
        const manifests = await rendered(values);
        for (const role of ROLES) {
          const needed = known.filter((name) => NEEDED_BY[name]!.includes(role));
          assert.deepEqual(Object.keys(given(manifests, role)).sort(), needed, role);
        }
        for (const role of ['api', 'dispatcher'])
          assert.equal(environment(manifests, role).PLATEN_PUBLIC_URL, PUBLIC.publicUrl);
      }
    });

    it('keep values that are given directly in Secrets, and nowhere else', async () => {
      const manifests = await rendered(BY_VALUE);
      assert.deepEqual(given(manifests, 'api'), {
        STRIPE_SECRET_KEY: 'platen-stripe/secret-key',
        STRIPE_WEBHOOK_SECRET: 'platen-stripe/webhook-secret',
        STRIPE_API_BASE: 'http://stand-in.test',
      });
      assert.deepEqual(given(manifests, 'dispatcher'), {
        STRIPE_SECRET_KEY: 'platen-stripe/secret-key',
        STRIPE_API_BASE: 'http://stand-in.test',
        SMTP_URL: 'platen-mail/smtp-url',
        PLATEN_MAIL_FROM: 'billing@example.com',
      });
      assert.deepEqual(decoded(manifests, 'platen-stripe'), {
        'secret-key': SECRETS.stripe.secretKey,
        'webhook-secret': SECRETS.stripe.webhookSecret,
      });
      assert.deepEqual(decoded(manifests, 'platen-mail'), { 'smtp-url': SECRETS.mail.smtpUrl });
      const elsewhere = JSON.stringify(manifests.filter(({ kind }) => kind !== 'Secret'));
      assert.doesNotMatch(elsewhere, /hidden/);
    });

    it('use existing Secrets, and make none then', async () => {
      const manifests = await rendered(BY_REFERENCE);
      const { STRIPE_SECRET_KEY, STRIPE_WEBHOOK_SECRET } = given(manifests, 'api');
      assert.deepEqual([STRIPE_SECRET_KEY, STRIPE_WEBHOOK_SECRET], ['payments/key', 'payments/signing']);
      const dispatcher = given(manifests, 'dispatcher');
      assert.deepEqual([dispatcher.STRIPE_SECRET_KEY, dispatcher.SMTP_URL], ['payments/key', 'mail/url']);
      const names = manifests.filter(({ kind }) => kind === 'Secret').map(({ metadata }) => metadata.name);
      assert.deepEqual(names.sort(), ['platen-mongodb']);
    });

    it('restart the processes whose configuration changes', async () => {
      const settings = async (values: Values) => {
        const manifests = await rendered(values);
        return ['api', 'dispatcher'].map(
          (role) =>
            find(manifests, 'Deployment', `platen-${role}`).spec.template.metadata.annotations[
              'platen.dev/settings'
            ],
        );
      };
      const [api, dispatcher] = await settings(BY_VALUE);
      const otherKey = await settings(over(BY_VALUE, { stripe: { secretKey: 'rk_test_other' } }));
      assert.ok(otherKey[0] !== api && otherKey[1] !== dispatcher);
      const otherServer = await settings(over(BY_VALUE, { mail: { smtpUrl: 'smtp://other.example.com' } }));
      assert.ok(otherServer[0] === api && otherServer[1] !== dispatcher);
    });

    it('let api and dispatcher reach Stripe and the mail server, but not the metadata services of clouds', async () => {
      const manifests = await rendered(BY_REFERENCE);
      for (const role of ['api', 'dispatcher']) {
        const policy = find(manifests, 'NetworkPolicy', `platen-${role}`);
        assert.ok(policy.spec.policyTypes.includes('Egress'), role);
        for (const [address, port] of OUTSIDE)
          assert.ok(mayReach(policy, address, port), `${role} to ${address}:${port}`);
        for (const address of METADATA)
          for (const port of [80, 443, 587])
            assert.ok(!mayReach(policy, address, port), `${role} ${address}`);
      }
      const narrowed = await rendered(
        over(BY_REFERENCE, { networkPolicy: { blockedNetworks: ['203.0.113.0/24'] } }),
      );
      const policy = find(narrowed, 'NetworkPolicy', 'platen-dispatcher');
      assert.deepEqual(
        OUTSIDE.map(([address, port]) => mayReach(policy, address, port)),
        [true, true, false, false, true],
      );
    });
  });
}

/** The variables of billing and mails that a role has. */
function given(manifests: readonly Manifest[], role: string): Record<string, string> {
  return Object.fromEntries(
    Object.entries(environment(manifests, role)).filter(([name]) => name in NEEDED_BY),
  );
}

function decoded(manifests: readonly Manifest[], name: string): Record<string, string> {
  const { data } = find(manifests, 'Secret', name) as Manifest & { data: Record<string, string> };
  return Object.fromEntries(
    Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]),
  );
}

interface EgressRule {
  readonly ports?: readonly { readonly port: number; readonly protocol: string }[];
  readonly to?: readonly {
    readonly ipBlock?: { readonly cidr: string; readonly except?: readonly string[] };
  }[];
}

/** Whether a policy lets its pods open a TCP connection to an address outside the cluster, as Kubernetes reads it. */
function mayReach({ spec }: Manifest, address: string, port: number): boolean {
  const family = isIPv6(address) ? 'ipv6' : 'ipv4';
  const holds = (cidr: string) => {
    const [network, prefix] = cidr.split('/') as [string, string];
    // A BlockList takes IPv4 for a part of IPv6.
    if (isIPv6(network) !== isIPv6(address)) return false;
    const list = new BlockList();
    list.addSubnet(network, Number(prefix), family);
    return list.check(address, family);
  };
  return (spec.egress as readonly EgressRule[]).some(({ ports, to }) => {
    const portAllowed =
      ports === undefined || ports.some((one) => one.port === port && one.protocol === 'TCP');
    const addressAllowed =
      to === undefined ||
      to.some(({ ipBlock }) => ipBlock && holds(ipBlock.cidr) && !(ipBlock.except ?? []).some(holds));
    return portAllowed && addressAllowed;
  });
}
