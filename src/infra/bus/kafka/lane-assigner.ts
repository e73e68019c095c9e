import kafkajs, { type PartitionAssigner } from 'kafkajs';

// Node finds no names of these among what kafkajs exports.
const { AssignerProtocol } = kafkajs;
const NAME = 'lane';
const VERSION = 0;

/** What kafkajs gives an assigner, beyond what its types tell. */
interface KnownPartitions {
  findTopicPartitionMetadata(topic: string): readonly { readonly partitionId: number }[];
}

/**
 * Has a consumer read one partition of its topics. kafkajs knows consumers of groups only, so each is a group of its own,
 * and this decides what its member reads. Should a lane have two readers for a moment, both read: claims decide.
 */
export function laneAssigner(lane: number): PartitionAssigner {
  return ({ cluster }) => ({
    name: NAME,
    version: VERSION,
    async assign({ members, topics }) {
      const known = cluster as unknown as KnownPartitions;
      for (const topic of topics) {
        const isKnown = known
          .findTopicPartitionMetadata(topic)
          .some(({ partitionId }) => partitionId === lane);
        // Otherwise it would read nothing, and not say so.
        if (!isKnown) throw new Error(`partition ${lane} of ${topic} is not known yet`);
      }
      const assignment = Object.fromEntries(topics.map((topic) => [topic, [lane]]));
      const memberAssignment = AssignerProtocol.MemberAssignment.encode({
        version: VERSION,
        assignment,
        userData: Buffer.alloc(0),
      });
      return members.map(({ memberId }) => ({ memberId, memberAssignment }));
    },
    protocol: ({ topics }) => ({
      name: NAME,
      metadata: AssignerProtocol.MemberMetadata.encode({
        version: VERSION,
        topics,
        userData: Buffer.alloc(0),
      }),
    }),
  });
}
