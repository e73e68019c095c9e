import assert from 'node:assert/strict';
import { ensureIndexes } from '../../../src/infra/store/collection-spec.ts';
import { TemplateStore } from '../../../src/tenants/templates/template-store.ts';
import { useDomain } from '../../support/domain.ts';

const ACCOUNT = 'a';
const READERS = 20;
const SAVES = 40;

describe('A template without history', () => {
  const domain = useDomain();
  let templates: TemplateStore;
  before(async () => {
    templates = new TemplateStore(domain.connection, domain.clock, { templates: 10, versions: 1 });
    await ensureIndexes(domain.connection);
  });

  it('can be read at any time, and loses no change, during concurrent saves', async () => {
    const { template } = await templates.create(ACCOUNT, { name: '-', content: '-', sampleData: '-' });
    const id = template._id;
    const fields = ['name', 'content', 'sampleData'] as const;
    let saving = true;
    const saved = Promise.all(
      fields.map(async (field) => {
        for (let n = 0; n < SAVES; n += 1) {
          await templates.save(ACCOUNT, id, { [field]: String(n) });
          // No other client writes this field.
          assert.equal((await templates.current(ACCOUNT, id))?.version[field], String(n));
        }
      }),
    ).finally(() => {
      saving = false;
    });
    const read = Array.from({ length: READERS }, async () => {
      while (saving) assert.ok(await templates.resolve(ACCOUNT, id), 'none was there');
    });
    await Promise.all([saved, ...read]);
    const versions = domain.connection.collection('template_versions');
    assert.equal(await versions.countDocuments({ templateId: id }), 1);
  });
});
