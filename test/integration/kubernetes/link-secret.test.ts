import assert from 'node:assert/strict';
import type { Kind, KubeObject } from '../../../src/infra/kube/client/kube-object.ts';
import type { KubernetesApi } from '../../../src/infra/kube/client/kubernetes-api.ts';
import { openKubernetesApi } from '../../../src/infra/kube/client/open-kubernetes-api.ts';
import { createLogger } from '../../../src/infra/telemetry/logger.ts';
import { keepLinkSecret, makeLinkSecret, parseLinkSecret } from '../../../src/kubernetes/link-secret.ts';
import { eventually } from '../../support/eventually.ts';
import { sharedControlPlane } from '../../support/kubernetes/control-plane.ts';
import { makeNamespace } from '../../support/kubernetes/objects.ts';

type Secret = KubeObject<{ readonly type: string; readonly data: Readonly<Record<string, string>> }>;
const SECRETS: Kind<Secret> = { group: '', version: 'v1', plural: 'secrets', kind: 'Secret' };
const NAME = 'platen-secret';
const installation = { id: 'platen/platen-controller', home: 'platen' };

describe('the Secret with the key that signs download links', () => {
  let api: KubernetesApi;
  let namespace: string;
  const logger = { info: () => {}, warn: (fields: object) => warnings.push(fields) };
  const warnings: object[] = [];
  before(async () => {
    const plane = await sharedControlPlane();
    api = await openKubernetesApi({ kubeconfigPath: plane.kubeconfigPath });
  });
  beforeEach(async () => {
    warnings.length = 0;
    namespace = await makeNamespace(api);
  });
  after(() => api.close());

  const manifest = (labels = {}) =>
    parseLinkSecret(
      JSON.stringify({ apiVersion: 'v1', kind: 'Secret', metadata: { name: NAME, namespace, labels } }),
    );
  const key = async () => {
    const found = await api.get(SECRETS, { name: NAME, namespace });
    return found && Buffer.from(found.data.secret!, 'base64').toString();
  };

  it('is made once, however many processes make it at the same moment, and never changed', async () => {
    await Promise.all(
      [1, 2, 3].map(() => makeLinkSecret(manifest({ app: 'platen' }), { api, installation, logger })),
    );
    const made = await key();
    assert.match(made!, /^[\w-]{48}$/);
    await makeLinkSecret(manifest(), { api, installation, logger });
    assert.equal(await key(), made);
    const { metadata } = (await api.get(SECRETS, { name: NAME, namespace }))!;
    assert.equal(metadata.labels?.app, 'platen');
    assert.equal(metadata.annotations?.['platen.dev/installation'], installation.id);
  });

  it('is named in the log when it was made, and its key is not', async () => {
    const lines: string[] = [];
    const destination = { write: (line: string) => void lines.push(line) };
    const own = createLogger({ level: 'info', role: 'controller', instance: 'a' }, destination);
    await makeLinkSecret(manifest(), { api, installation, logger: own });
    assert.equal(JSON.parse(lines[0]!).secretName, NAME);
    assert.ok(!lines.join().includes((await key())!));
  });

  it('is left as it is when it was made by another', async () => {
    const data = { secret: Buffer.from('theirs').toString('base64') };
    await api.create(SECRETS, { ...manifest(), type: 'Opaque', data });
    await makeLinkSecret(manifest(), { api, installation, logger });
    assert.equal(await key(), 'theirs');
  });

  it('is tried again when the API server rejects it, and the log names it', async () => {
    const stopping = new AbortController();
    const nowhere = { ...manifest(), metadata: { name: NAME, namespace: 'that-there-is-not' } };
    const kept = keepLinkSecret(nowhere, { api, installation, logger }, stopping.signal);
    await eventually('a warning', () => warnings.length > 0);
    stopping.abort();
    await kept;
    assert.partialDeepStrictEqual(warnings[0], { secretName: NAME });
  });

  it('is rejected with what is wrong with its manifest', () => {
    assert.throws(
      () => parseLinkSecret('apiVersion: v1\nkind: ConfigMap\nmetadata: { name: a }\n'),
      /kind: .*metadata\.namespace: /,
    );
  });
});
