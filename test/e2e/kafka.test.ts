import { openKafkaService } from '../support/service.ts';
import { singleRenderContract } from './contract.ts';

describe('single renders: api, worker and dispatcher over Kafka', () => {
  singleRenderContract(openKafkaService);
});
