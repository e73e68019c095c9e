import assert from 'node:assert/strict';
import { HELMS, LEAST, over, rejection, render, type Values } from './support/helm.ts';

const PUBLIC = { publicUrl: 'https://pdf.example.com' };
/** Values with a mistake, and the message that its author must read. */
const MISTAKES: readonly (readonly [string, Values, RegExp])[] = [
  [
    'no database',
    { mongodb: { uri: '' } },
    /Platen needs a database\. Set mongodb\.uri=mongodb:\/\/…, or mongodb\.existingSecret\.name/,
  ],
  ['no brokers', { kafka: { brokers: [] } }, /Platen needs Kafka\. Set kafka\.brokers=host:9092/],
  [
    'a database twice',
    { mongodb: { existingSecret: { name: 'db' } } },
    /mongodb: set uri or existingSecret\.name, not both/,
  ],
  [
    'a database of another kind',
    { mongodb: { uri: 'postgres://db' } },
    /mongodb\.uri must begin with mongodb:\/\//,
  ],
  ['a broker without a port', { kafka: { brokers: ['a:9092', 'b'] } }, /kafka\.brokers: b must be host:port/],
  ['a misspelt key', { mongodb: { url: 'x' } }, /'\/mongodb': additional properties 'url' not allowed/],
  ['a section that there is not', { redis: {} }, /additional properties 'redis' not allowed/],
  [
    'a word for a number',
    { api: { replicas: 'two' } },
    /'\/api\/replicas': got string, want null or integer/,
  ],
  ['a text for a boolean', { ingress: { enabled: 'yes' } }, /'\/ingress\/enabled': got string, want boolean/],
  [
    'a mechanism that there is not',
    { kafka: { sasl: { mechanism: 'gssapi' } } },
    /'\/kafka\/sasl\/mechanism': value must be one of '', 'plain', 'scram-sha-256', 'scram-sha-512'/,
  ],
  [
    'a mechanism without a user',
    { kafka: { sasl: { mechanism: 'plain' } } },
    /kafka\.sasl: a mechanism needs username and password, or existingSecret\.name/,
  ],
  [
    'a secret without a user',
    { kafka: { sasl: { mechanism: 'plain', existingSecret: { name: 'k' } } } },
    /kafka\.sasl: set username, or existingSecret\.usernameKey/,
  ],
  [
    'a user without a mechanism',
    { kafka: { sasl: { username: 'platen', password: 'x' } } },
    /a user is given, but no mechanism/,
  ],
  [
    'an authority that would not be used',
    { kafka: { tls: { ca: 'PEM' } } },
    /kafka\.tls: an authority is given, but kafka\.tls\.enabled is false/,
  ],
  [
    'a client certificate that would not be shown',
    { kafka: { tls: { clientCertificate: { existingSecret: { name: 'k' } } } } },
    /kafka\.tls: a client certificate is given, but kafka\.tls\.enabled is false/,
  ],
  ['a short secret', { secret: { value: 'short' } }, /secret\.value must have 32 characters or more/],
  [
    'a key of another form',
    { bootstrap: { email: 'a@b.c', apiKey: 'key' } },
    /bootstrap\.apiKey must begin with sk_live_ or sk_test_/,
  ],
  [
    'a password of nobody',
    { bootstrap: { password: 'correct horse' } },
    /bootstrap\.email: a password or key is given, but not whose/,
  ],
  [
    'half an issuer',
    { config: { oidc: { issuer: 'https://id.example' } } },
    /issuer and audience must be set together/,
  ],
  [
    'a client without an issuer',
    { config: { oidc: { clientId: 'platen' } } },
    /clientId needs issuer and audience/,
  ],
  [
    'the secret of no client',
    { config: { oidc: { issuer: 'https://id.example', audience: 'a', existingSecret: { name: 'x' } } } },
    /existingSecret needs clientId/,
  ],
  [
    'a key for browsers',
    { config: PUBLIC, stripe: { secretKey: 'pk_test_x', webhookSecret: 'whsec_x' } },
    /stripe\.secretKey must begin with sk_ or rk_/,
  ],
  [
    'a key of Stripe’s without a signing secret',
    { config: PUBLIC, stripe: { secretKey: 'rk_test_x' } },
    /stripe\.webhookSecret: without it no event of Stripe's is accepted/,
  ],
  [
    'a signing secret of another form',
    { config: PUBLIC, stripe: { secretKey: 'rk_test_x', webhookSecret: 'secret' } },
    /stripe\.webhookSecret must begin with whsec_/,
  ],
  [
    'a signing secret without a key',
    { stripe: { webhookSecret: 'whsec_x' } },
    /stripe\.secretKey: a signing secret or an address is given, but no key/,
  ],
  [
    'a key of Stripe’s twice',
    { config: PUBLIC, stripe: { secretKey: 'rk_test_x', existingSecret: { name: 'stripe' } } },
    /stripe: set secretKey and webhookSecret, or existingSecret\.name, not both/,
  ],
  [
    'Stripe without a way back',
    { stripe: { existingSecret: { name: 'stripe' } } },
    /config\.publicUrl: Stripe's pages and the links of mails lead there/,
  ],
  [
    'a stand-in that has no address',
    { config: PUBLIC, stripe: { existingSecret: { name: 'stripe' }, apiBase: 'stand-in:8080' } },
    /'\/stripe\/apiBase'.* does not match pattern/,
  ],
  ['a misspelt key of Stripe’s', { stripe: { apiKey: 'x' } }, /additional properties 'apiKey' not allowed/],
  [
    'an empty key in a secret',
    { config: PUBLIC, stripe: { existingSecret: { name: 'stripe', webhookSecretKey: '' } } },
    /'\/stripe\/existingSecret\/webhookSecretKey': minLength/,
  ],
  [
    'a mail server of another kind',
    { config: PUBLIC, mail: { smtpUrl: 'imap://mail.example.com', from: 'a@example.com' } },
    /mail\.smtpUrl must begin with smtp:\/\/ or smtps:\/\//,
  ],
  [
    'a mail server twice',
    {
      config: PUBLIC,
      mail: { smtpUrl: 'smtp://mail.example.com', existingSecret: { name: 'mail' }, from: 'a@example.com' },
    },
    /mail: set smtpUrl or existingSecret\.name, not both/,
  ],
  [
    'mails of nobody',
    { config: PUBLIC, mail: { existingSecret: { name: 'mail' } } },
    /mail\.from: say which address mails come from/,
  ],
  [
    'a sender without a server',
    { mail: { from: 'billing@example.com' } },
    /mail: a sender is given, but no server/,
  ],
  [
    'addresses to confirm without a mail server',
    { config: { confirmAddress: 'required' } },
    /config\.confirmAddress: addresses are confirmed by mail/,
  ],
  [
    'a sender with a name',
    { config: PUBLIC, mail: { existingSecret: { name: 'mail' }, from: 'Platen <a@example.com>' } },
    /'\/mail\/from'.* does not match pattern/,
  ],
  [
    'mails whose links lead nowhere',
    { mail: { existingSecret: { name: 'mail' }, from: 'billing@example.com' } },
    /config\.publicUrl: Stripe's pages and the links of mails lead there/,
  ],
  ['an ingress for no host', { ingress: { enabled: true } }, /ingress\.hosts: an ingress needs a host/],
  [
    'a route without a gateway',
    { httpRoute: { enabled: true } },
    /httpRoute\.parentRefs: a route needs a gateway/,
  ],
  [
    'two profiles',
    { worker: { sandbox: { installProfile: true, localhostProfile: 'a.json' } } },
    /set installProfile or localhostProfile, not both/,
  ],
  [
    'the installer beside the workers',
    { worker: { sandbox: { installProfile: true, namespace: 'default' } } },
    /worker\.sandbox\.namespace must not be that of the release/,
  ],
  [
    'bounds the wrong way round',
    { api: { autoscaling: { minReplicas: 5, maxReplicas: 2 } } },
    /minReplicas must not be greater than maxReplicas/,
  ],
  ['a digest that is none', { image: { digest: 'latest' } }, /'\/image\/digest'/],
  [
    'a misspelt field of a pool',
    { defaultResources: { pools: { extra: { maxReplica: 20 } } } },
    /'\/defaultResources\/pools\/extra'[\s\S]*additional properties 'maxReplica' not allowed/,
  ],
  [
    'a misspelt field of a plan',
    { defaultResources: { plans: { free: { monthlyRender: 500 } } } },
    /'\/defaultResources\/plans\/free'[\s\S]*additional properties 'monthlyRender' not allowed/,
  ],
  [
    'a misspelt field deep in a pool',
    { defaultResources: { pools: { default: { scaleDown: { percent: 5 } } } } },
    /additional properties 'percent' not allowed/,
  ],
  [
    'a name that no pool may have',
    { defaultResources: { pools: { Big: {} } } },
    /defaultResources\.pools: Big is no name of a pool: 1 to 63 lower-case letters/,
  ],
  [
    'a pool of no size',
    { defaultResources: { pools: { default: { maxReplicas: 0 } } } },
    /'\/defaultResources\/pools\/default\/maxReplicas': minimum: got 0, want 1/,
  ],
  [
    'a pool of another name for a plan',
    { defaultResources: { plans: { gold: { poolRef: 'Big' } } } },
    /'\/defaultResources\/plans\/gold\/poolRef'[\s\S]*does not match pattern/,
  ],
  [
    'an alert that there is not',
    { prometheusRule: { overrides: { PlatenQueueAg: { for: '9m' } } } },
    /prometheusRule: there is no alert PlatenQueueAg/,
  ],
  [
    'the threshold of an alert that has none',
    { prometheusRule: { overrides: { PlatenNoLeader: { threshold: 2 } } } },
    /prometheusRule\.overrides\.PlatenNoLeader: it compares with no number/,
  ],
  [
    'every namespace',
    { controller: { watchNamespaces: ['*'] } },
    /controller\.watchNamespaces: \* is no namespace\. Name each/,
  ],
  [
    'a namespace of another form',
    { controller: { watchNamespaces: ['team-a', 'Team_B'] } },
    /controller\.watchNamespaces: "Team_B" is no name of a namespace/,
  ],
  [
    'an address without a scheme',
    { config: { publicUrl: 'pdf.example.com' } },
    /config\.publicUrl: pdf\.example\.com must be an http or https address/,
  ],
  [
    'a budget that holds up every drain',
    { api: { podDisruptionBudget: { maxUnavailable: 0 } } },
    /api\.podDisruptionBudget\.maxUnavailable: 0 would let no node be drained/,
  ],
  [
    'the same in per cent',
    { controller: { podDisruptionBudget: { maxUnavailable: '0%' } } },
    /controller\.podDisruptionBudget\.maxUnavailable: 0 would/,
  ],
  [
    'a rollout that could replace no worker',
    { worker: { strategy: { rollingUpdate: { maxSurge: '0%', maxUnavailable: 0 } } } },
    /worker\.strategy\.rollingUpdate: maxSurge and maxUnavailable must not both be 0/,
  ],
  [
    'the same by the default',
    { worker: { strategy: { rollingUpdate: { maxSurge: 0 } } } },
    /worker\.strategy\.rollingUpdate: maxSurge and maxUnavailable must not both be 0/,
  ],
  [
    'an account of workers that the controller would replace',
    { worker: { podSpec: { serviceAccountName: 'pdf' } } },
    /worker\.podSpec\.serviceAccountName: the controller sets it for each pool\. Use worker\.serviceAccount\.name/,
  ],
  [
    'a request above its limit',
    { worker: { resources: { requests: { memory: '8Gi' } } } },
    /worker\.resources: the request of memory, 8Gi, is greater than its limit, 3Gi\./,
  ],
  [
    'the same in other units',
    { api: { resources: { requests: { cpu: 2 }, limits: { cpu: '1500m' } } } },
    /api\.resources: the request of cpu, 2, is greater than its limit, 1500m\./,
  ],
  [
    'the same in a pool',
    { defaultResources: { pools: { big: { resources: { requests: { cpu: '2' }, limits: { cpu: '1' } } } } } },
    /defaultResources\.pools\.big\.resources: the request of cpu, 2, is greater/,
  ],
  [
    'less disk than /tmp may have',
    { worker: { resources: { limits: { 'ephemeral-storage': '1Gi' } } } },
    /the limit of ephemeral-storage, 1Gi, is less than worker\.tmp\.sizeLimit, 2Gi/,
  ],
  [
    'a quantity that is none',
    { api: { resources: { limits: { memory: '1 GB' } } } },
    /'\/api\/resources\/limits\/memory'.* does not match pattern/,
  ],
  [
    'containers over those of the chart',
    { worker: { podSpec: { containers: [{ name: 'x' }] } } },
    /worker\.podSpec\.containers: a list here would replace the chart's own\. Use worker\.initContainers/,
  ],
  [
    'an outside policy of a Service inside',
    { api: { service: { externalTrafficPolicy: 'Local' } } },
    /api\.service\.externalTrafficPolicy: it has no effect on a Service of type ClusterIP/,
  ],
  [
    'no time to finish',
    { api: { drainSeconds: 60 } },
    /terminationGracePeriodSeconds must be greater than api\.drainSeconds/,
  ],
];

for (const helm of HELMS) {
  describe(`invalid values of the chart, by ${helm}`, () => {
    for (const [mistake, values, words] of MISTAKES) {
      it(`are rejected with a message: ${mistake}`, async () => {
        assert.match(await rejection(helm, over(LEAST, values)), words);
      });
    }

    it('are reported all at once', async () => {
      const output = await rejection(helm, {
        secret: { value: 'short' },
        config: { oidc: { audience: 'a' } },
      });
      assert.equal(output.match(/^ {2}(mongodb|kafka|secret\.value|config\.oidc)/gm)?.length, 4, output);
    });

    it('are rejected without showing secrets', async () => {
      const output = await rejection(
        helm,
        over(LEAST, {
          stripe: { secretKey: 'pk_live_hidden', webhookSecret: 'hidden' },
          mail: { smtpUrl: 'imap://platen:hidden@mail.example.com', from: 'billing@example.com' },
        }),
      );
      assert.match(output, /stripe\.secretKey must begin/);
      assert.doesNotMatch(output, /hidden/);
    });

    it('include a cluster that is too old', async () => {
      await assert.rejects(render(helm, LEAST, { kubeVersion: '1.28.9' }), /requires kubeVersion: >=1\.29/);
      await render(helm, LEAST, { kubeVersion: '1.29.0' });
    });

    it('do not include what a parent chart passes down', async () => {
      await render(
        helm,
        over(LEAST, { enabled: true, global: { imageRegistry: 'r.example', storageClass: 'fast' } }),
      );
    });
  });
}
