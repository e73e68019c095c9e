import { openStandaloneService } from '../support/service.ts';
import { singleRenderContract } from './contract.ts';

describe('single renders: one process', () => {
  singleRenderContract(openStandaloneService);
});
