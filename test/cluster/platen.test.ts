import { describeDisruptions } from './cases/disruptions.ts';
import { describeEnd, describeTakingAway } from './cases/end.ts';
import { describeInstallation } from './cases/installation.ts';
import { describeLosses } from './cases/losses.ts';
import { describeOutages } from './cases/outages.ts';
import { describePlans } from './cases/plans.ts';
import { describeSandbox } from './cases/sandbox.ts';
import { describeScaling } from './cases/scaling.ts';
import { describeUpgrades } from './cases/upgrades.ts';
import { sharedCluster } from './support/cluster.ts';
import { startPeers } from './support/peers.ts';
import { Release } from './support/release.ts';

/**
 * One installation by Helm 3, from `helm install` to `helm uninstall`, which each case leaves as it was found; then one
 * by Helm 4 instead, which is removed with everything that it has left.
 */
describe('Platen in a cluster', function () {
  this.timeout(600_000);
  this.slow(60_000);
  let release: Release;
  before(async () => {
    const cluster = await sharedCluster();
    release = new Release(cluster, await startPeers(), 'helm3');
    await release.installed();
  });
  afterEach(async function () {
    if (this.currentTest?.state === 'failed') console.log(await release.describe());
  });
  after(() => release?.peers.kafka.stop());

  describeInstallation(() => release);
  describePlans(() => release);
  describeScaling(() => release);
  describeDisruptions(() => release);
  describeLosses(() => release);
  describeOutages(() => release);
  describeUpgrades(() => release);
  describeEnd(() => release);
  describeSandbox(() => release);
  describeTakingAway(() => release);
});
