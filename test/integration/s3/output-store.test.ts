import { pino } from 'pino';
import { keysAfter } from '../../../src/infra/outputs/s3/listed-objects.ts';
import { createS3OutputStore } from '../../../src/infra/outputs/s3/s3.ts';
import { elementsOf } from '../../../src/infra/outputs/s3/xml.ts';
import { bucketClient, s3Config, sharedS3 } from '../../support/s3-server.ts';
import { describeOutputStore, type OpenStore } from '../outputs/support/conformance.ts';

async function openS3(): Promise<OpenStore> {
  const config = s3Config(await (await sharedS3()).newBucket({ PLATEN_S3_PREFIX: 'platen/outputs/' }));
  const store = createS3OutputStore(config, { logger: pino({ level: 'silent' }), probes: false });
  const client = bucketClient(config);
  return {
    store,
    async countParts() {
      const uploads = await client.text({ method: 'GET', query: { uploads: '' } });
      return (await keysAfter(client, '', '')).length + elementsOf(uploads, 'Upload').length;
    },
    async close() {
      await store.close();
      await client.close();
    },
  };
}

describeOutputStore('S3', openS3);
