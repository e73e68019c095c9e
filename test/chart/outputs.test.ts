import assert from 'node:assert/strict';
import { loadConfig } from '../../src/config/config.ts';
import { environmentSchema } from '../../src/config/environment.ts';
import { find, HELMS, LEAST, over, rejection, render, type Values } from './support/helm.ts';
import { environment, workerTemplate } from './support/pods.ts';

const ROLES = ['api', 'dispatcher', 'worker'] as const;
const VARIABLE = /^(PLATEN_OUTPUT_STORE|PLATEN_S3_.*|AWS_.*)$/;
const BUCKET: Values = { outputs: { store: 's3', s3: { bucket: 'pdfs', region: 'eu-central-1' } } };
const EVERYTHING: Values = over(BUCKET, {
  outputs: {
    s3: {
      endpoint: 'https://minio.storage.svc:9000',
      prefix: 'platen/',
      pathStyle: 'on',
      kmsKey: 'alias/pdfs',
      publicEndpoint: 'https://files.example.com',
      existingSecret: { name: 'bucket', sessionTokenKey: 'token' },
    },
  },
});

for (const helm of HELMS) {
  const rendered = (values: Values) => render(helm, over(LEAST, values));

  describe(`the chart's outputs, with ${helm}`, () => {
    it('are in the database by default, also with values of an older chart', async () => {
      for (const values of [{}, { outputs: null }]) {
        const manifests = await rendered(values);
        for (const role of [...ROLES, 'controller']) {
          const names = Object.keys(environment(manifests, role)).filter((name) => VARIABLE.test(name));
          assert.deepEqual(names, [], role);
        }
      }
    });

    it('are in a bucket, with every variable that there is, in each role that works on jobs', async () => {
      const known = Object.keys(environmentSchema.shape).filter((name) => VARIABLE.test(name));
      const manifests = await rendered(EVERYTHING);
      for (const role of ROLES) {
        const given = environment(manifests, role);
        assert.deepEqual(
          Object.keys(given)
            .filter((name) => VARIABLE.test(name))
            .sort(),
          known.sort(),
          role,
        );
        assert.deepEqual(
          ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN'].map((name) => given[name]),
          ['bucket/access-key-id', 'bucket/secret-access-key', 'bucket/token'],
        );
        loadConfig(role, { ...given, PLATEN_SECRET: 's'.repeat(32), MONGODB_URI: 'mongodb://a' });
      }
      assert.ok(!Object.keys(environment(manifests, 'controller')).some((name) => VARIABLE.test(name)));
    });

    it('are reached by the roles of service accounts where there is no secret', async () => {
      const arn = { 'eks.amazonaws.com/role-arn': 'arn:aws:iam::111122223333:role/platen' };
      const manifests = await rendered(
        over(BUCKET, {
          serviceAccount: { annotations: arn },
          worker: { serviceAccount: { annotations: arn } },
        }),
      );
      assert.deepEqual(find(manifests, 'ServiceAccount', 'platen').metadata.annotations, arn);
      assert.deepEqual(workerTemplate(manifests).serviceAccount.annotations, arn);
      for (const role of ROLES) {
        const given = environment(manifests, role);
        assert.ok(!Object.keys(given).some((name) => name.startsWith('AWS_')), role);
        assert.deepEqual([given.PLATEN_S3_BUCKET, given.PLATEN_S3_REGION], ['pdfs', 'eu-central-1']);
      }
    });

    it('may be anywhere but where metadata are: the policies let api and dispatcher out', async () => {
      const manifests = await rendered(EVERYTHING);
      for (const role of ['api', 'dispatcher']) {
        const [, anywhere] = find(manifests, 'NetworkPolicy', `platen-${role}`).spec.egress;
        assert.equal(anywhere.ports, undefined, role);
        assert.deepEqual(anywhere.to[0], { namespaceSelector: {} });
        assert.equal(anywhere.to[1].ipBlock.cidr, '0.0.0.0/0');
      }
    });

    it('are refused without a bucket, and a bucket without S3', async () => {
      for (const [values, error] of [
        [
          { outputs: { store: 's3' } },
          /outputs\.s3\.bucket: outputs\.store is s3, and needs the name of a bucket/,
        ],
        [
          { outputs: { s3: { bucket: 'pdfs' } } },
          /outputs\.store: a bucket, an endpoint or a secret of S3 is given/,
        ],
        [{ outputs: { store: 'minio' } }, /'\/outputs\/store': value must be one of 'gridfs', 's3'/],
        [over(BUCKET, { outputs: { s3: { prefix: 'a' } } }), /'\/outputs\/s3\/prefix': /],
        [over(BUCKET, { outputs: { s3: { endpoint: 'minio:9000' } } }), /'\/outputs\/s3\/endpoint': /],
      ] as const) {
        assert.match(await rejection(helm, over(LEAST, values)), error);
      }
    });
  });
}
