import { describeDisruptions } from './cases/disruptions.ts';
import { describeEnd } from './cases/end.ts';
import { describeInstallation } from './cases/installation.ts';
import { describePlans } from './cases/plans.ts';
import { describeScaling } from './cases/scaling.ts';
import { describeUpgrades } from './cases/upgrades.ts';
import { sharedCluster } from './support/cluster.ts';
import { startPeers } from './support/peers.ts';
import { Release } from './support/release.ts';

/** One installation, from `helm install` to `helm uninstall`; each part leaves it as it was found. */
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
  describeUpgrades(() => release);
  describeEnd(() => release);
});
