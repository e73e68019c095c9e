import assert from 'node:assert/strict';
import type { Admin } from 'kafkajs';
import { createMissing } from '../../../src/infra/bus/kafka/topics.ts';

/** A client of brokers that learn of a new topic at the third question, or respond with another failure. */
function adminOf(type: string): { admin: Admin; created: unknown[]; asked: () => number } {
  const created: unknown[] = [];
  let asked = 0;
  const admin: Partial<Admin> = {
    listTopics: async () => ['there'],
    createTopics: async (config) => {
      created.push(config);
      return true;
    },
    fetchTopicMetadata: async () => {
      asked += 1;
      if (asked < 3) throw Object.assign(new Error(type), { type });
      return { topics: [] };
    },
  };
  return { admin: admin as Admin, created, asked: () => asked };
}

describe('topics that are missing', () => {
  for (const type of ['UNKNOWN_TOPIC_OR_PARTITION', 'LEADER_NOT_AVAILABLE']) {
    it(`are waited for while a broker has not learnt of them: ${type}`, async () => {
      const { admin, created, asked } = adminOf(type);
      await createMissing(admin, [{ topic: 'there' }, { topic: 'new' }]);
      assert.deepEqual(created, [{ topics: [{ topic: 'new' }], waitForLeaders: false }]);
      assert.equal(asked(), 3);
    });
  }

  it('are a failure when a broker rejects the question', async () => {
    const { admin } = adminOf('TOPIC_AUTHORIZATION_FAILED');
    await assert.rejects(createMissing(admin, [{ topic: 'new' }]), { type: 'TOPIC_AUTHORIZATION_FAILED' });
  });
});
