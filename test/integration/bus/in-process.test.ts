import { createInProcessBus } from '../../../src/bus/in-process.ts';
import { describeBusContract } from './contract.ts';

describeBusContract('in-process', () => ({
  open: async () => createInProcessBus(),
  quietMs: 20,
}));
