import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { PlatenClient } from '../../../clients/typescript/src/index.ts';
import { killProcess } from '../../../src/render/chromium/process/processes.ts';
import { eventually } from '../../support/eventually.ts';
import { readPdf } from '../../support/pdf.ts';
import { procFile } from '../../support/processes.ts';
import { send } from '../../support/send.ts';
import { assertEachOnce, cancelAll, processing, replenish, submitSlow } from '../support/load.ts';
import type { ClusterNode } from '../support/node.ts';
import { HUNG_MS, type Pod, type Release, SLOTS_PER_WORKER, type Tenant } from '../support/release.ts';

const ROLES = ['api', 'dispatcher', 'controller'];
/** Renders of six seconds each: enough for the pool to grow before the node vanishes, and to continue meanwhile. */
const LONG_RENDERS = 26;
/** How long each of them takes at least, in milliseconds. */
const SLOW_MS = 6000;
/** Callers by the Service: enough that one of their connections leads to the vanishing node. */
const CALLERS = 6;

/** More than a worker has pages made ahead, whose processes run already. */
const STRANGERS = 4;

/** Fills a pod with processes, again and again. */
const EATER = `const { spawn } = require('node:child_process');
const eat = () => {
  for (;;) {
    const child = spawn('sleep', ['600'], { stdio: 'ignore' });
    child.on('error', () => {});
    if (child.pid === undefined) return;
  }
};
setInterval(eat, 20);`;

/** Processes that are lost without notice, or live and cannot work. */
export function describeLosses(release: () => Release): void {
  describe('when something is lost', () => {
    let client: Tenant;
    let callers: KeptConnections | undefined;
    // Of its own for each case, which counts what it has completed.
    beforeEach(async () => {
      client = await release().openAccount('business');
    });
    afterEach(async function () {
      if (this.currentTest?.state !== 'failed') return;
      callers?.abandon();
      await cancelAll(client);
      await editPool(release(), { mode: 'Automatic', replicas: null });
      await scaleRoles(release(), 1);
    });

    it('loses nothing, and renders nothing twice, when a node vanishes with all its pods', async () => {
      const { cluster } = release();
      await scaleRoles(release(), 2);
      const neighbour = await release().openAccount('business');
      const calling = new KeptConnections(release().url, neighbour);
      callers = calling;
      await eventually('renders by the Service', () => calling.rendered > CALLERS, HUNG_MS);
      const submissions = await submitSlow(client, LONG_RENDERS, SLOW_MS);
      const lost = await nodeThatRenders(release(), client, submissions);
      // At once: renders that run there now end within seconds.
      await lost.cutPower();
      const cut = performance.now();
      // The Service leads to both processes until the cluster has noticed.
      const survivor = (await release().readyPods('api')).find(isOff(lost));
      const survivorUrl = `http://${survivor!.status.podIP}:8080`;
      const there = release().at(client, survivorUrl);
      try {
        await assertEachOnce(there, submissions);
        const attempts = await Promise.all(
          [...submissions.keys()].map(
            async (id) => (await there.call('GET', `/v1/pdf/jobs/${id}`)).json.attemptCount,
          ),
        );
        const repeated = attempts.filter((count) => count > 1).length;
        assert.ok(repeated > 0, 'nothing was being rendered there');
        console.log(`      ${repeated} renders were lost; all were done after ${seconds(cut)} s`);
      } finally {
        await lost.boot();
      }
      const booted = performance.now();
      const cutAt = Date.now() - (booted - cut);
      await cluster.plane.kubectl('wait', '--for=condition=Ready', '--timeout=300s', `node/${lost.name}`);
      // It may be back before Kubernetes has noticed that it was gone: then its pods are called ready all the time.
      await eventually('what was lost runs anew', () => hasStartedSince(release(), lost, cutAt), HUNG_MS);
      for (const role of ROLES) await release().hasPods(role, 2, HUNG_MS);
      console.log(`      as before ${seconds(booted)} s after the node was back`);
      await calling.stop(release().at(neighbour, survivorUrl));
      await release().leaveDeadConnections();
      await scaleRoles(release(), 1);
      await release().hasPods('worker', 1, HUNG_MS);
    });

    it('leaves the jobs of a worker without process ids to another; that worker reports it and recovers', async () => {
      const strangers: Tenant[] = [];
      while (strangers.length < STRANGERS) strangers.push(await release().openAccount('business'));
      await editPool(release(), { mode: 'Manual', replicas: 1 });
      await release().hasPods('worker', 1, HUNG_MS);
      const [worker] = await release().readyPods('worker');
      const eating = release()
        .kubectl('exec', worker!.metadata.name, '--', 'node', '-e', EATER)
        .catch(() => undefined);
      await eventually('no process ids left', () => isFull(release(), worker!), HUNG_MS);

      const ready = async () => (await release().readyPods('worker')).map(({ metadata }) => metadata.uid);
      const isReady = async () => (await ready()).includes(worker!.metadata.uid);
      try {
        // From enough new accounts that some need a new page; open pages continue.
        const submissions = await Promise.all(strangers.map((stranger) => submitSlow(stranger, 2, 6000)));
        const problems = async () => {
          const { json } = await send(`http://${worker!.status.podIP}:9090`, 'GET', '/readyz');
          return JSON.stringify(json);
        };
        await eventually('it says why', async () => /no browser is ready/.test(await problems()), HUNG_MS);
        await eventually('it is not ready', async () => !(await isReady()), HUNG_MS);
        await editPool(release(), { replicas: 2 });
        for (const [index, stranger] of strangers.entries())
          await assertEachOnce(stranger, submissions[index]!);
      } finally {
        // First what started them: they are left to the first process of the container, which has to see them off.
        for (const mark of ['spawn(', 'sleep']) {
          for (const pid of processesWith(release(), worker!, mark)) killProcess(Number(pid));
        }
        await eating;
      }
      await eventually('it is ready again', isReady, HUNG_MS);
      const count = [
        'exec',
        worker!.metadata.name,
        '--',
        'sh',
        '-c',
        "cat /proc/[0-9]*/status | grep -c '^State:.Z' || true",
      ];
      await eventually('no zombies', async () => (await release().kubectl(...count)).trim() === '0', HUNG_MS);
      const healed = (await release().readyPods('worker')).find(
        ({ metadata }) => metadata.uid === worker!.metadata.uid,
      );
      assert.equal(restartsOf(healed!), restartsOf(worker!), 'it has healed by itself');
      await editPool(release(), { mode: 'Automatic', replicas: null });
      await release().hasPods('worker', 1, HUNG_MS);
    });
  });
}

/** Callers of the Service by the TypeScript client, as its README has them: a render that fails is one too many. */
class KeptConnections {
  readonly #key: string;
  readonly #url: string;
  readonly #ended: Promise<unknown>;
  rendered = 0;
  #tries = 0;
  #stopped = false;

  constructor(url: string, tenant: Tenant) {
    this.#url = url;
    this.#key = tenant.key;
    this.#ended = Promise.allSettled(Array.from({ length: CALLERS }, () => this.#call()));
  }

  async #call(): Promise<void> {
    const platen = new PlatenClient({
      baseUrl: this.#url,
      apiKey: this.#key,
      fetch: (request) => {
        if (request.method === 'POST') this.#tries += 1;
        return fetch(request);
      },
    });
    while (!this.#stopped) {
      const word = `caller-${this.rendered}`;
      const { bytes } = await platen.render({ html: `<h1>${word}</h1>` });
      assert.equal((await readPdf(bytes)).text.trim(), word);
      this.rendered += 1;
      await sleep(2000);
    }
  }

  /** Lets them end, whatever becomes of them: they would be load for the cases that follow. */
  abandon(): void {
    this.#stopped = true;
  }

  /** Holds against them that every render came, each once. @param tenant whose they are, at a process that is there. */
  async stop(tenant: Tenant): Promise<void> {
    this.#stopped = true;
    const ends = (await this.#ended) as PromiseSettledResult<void>[];
    const failures = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason] : []));
    assert.deepEqual(failures, []);
    await eventually('usage', async () => (await tenant.completed()) >= this.rendered, HUNG_MS);
    assert.equal(await tenant.completed(), this.rendered);
    console.log(`      ${this.rendered} renders by the Service meanwhile, in ${this.#tries} tries`);
  }
}

async function scaleRoles(release: Release, count: number): Promise<void> {
  for (const role of ROLES)
    await release.kubectl('scale', `deployment/platen-${role}`, `--replicas=${count}`);
  for (const role of ROLES) await release.hasPods(role, count, HUNG_MS);
}

/**
 * Waits until renders must be on a node without which each role still has a process.
 *
 * @param submissions the account's, to which more are added until then.
 * @returns that node.
 */
async function nodeThatRenders(
  release: Release,
  client: Tenant,
  submissions: Map<string, string>,
): Promise<ClusterNode> {
  const roles = await Promise.all(ROLES.map((role) => release.readyPods(role)));
  const candidates = release.cluster.nodes.filter((node) => roles.every((pods) => pods.some(isOff(node))));
  assert.ok(candidates.length > 0, 'no node can be done without');
  let found: ClusterNode | undefined;
  const isBusy = async () => {
    await replenish(client, submissions, Math.ceil(LONG_RENDERS / 4), SLOW_MS);
    // Workers that are not ready yet count as well: a worker renders some seconds before the cluster knows that it can.
    const workers = await release.pods('worker');
    const busy = await processing(client);
    found = candidates.find((node) => {
      const elsewhere = workers.filter(isOff(node)).length;
      return elsewhere > 0 && busy > SLOTS_PER_WORKER * elsewhere;
    });
    return found !== undefined;
  };
  await eventually('more renders than can be elsewhere', isBusy, HUNG_MS);
  return found!;
}

function isOff(node: ClusterNode): (pod: Pod) => boolean {
  return ({ spec }) => spec.nodeName !== node.name;
}

/** Whether everything of the roles that is bound to a node was started there after a moment. */
async function hasStartedSince(release: Release, node: ClusterNode, sinceMs: number): Promise<boolean> {
  const pods = (await Promise.all(ROLES.map((role) => release.pods(role)))).flat();
  return pods
    .filter(({ spec }) => spec.nodeName === node.name)
    .flatMap(({ status }) => status.containerStatuses ?? [])
    .every(({ state }) => Date.parse(state?.running?.startedAt ?? '') > sinceMs);
}

/** Not from zero on a node that was booted again. */
function restartsOf({ status }: Pod): number | undefined {
  return status.containerStatuses?.[0]?.restartCount;
}

function processesWith(release: Release, pod: Pod, mark: string): string[] {
  return release.processesOf(pod).filter((pid) => procFile(pid, 'cmdline').includes(mark));
}

/** Whether processes are being started in a pod, and no more of them succeed. */
async function isFull(release: Release, pod: Pod): Promise<boolean> {
  const before = processesWith(release, pod, 'sleep').length;
  await sleep(500);
  return before > 100 && processesWith(release, pod, 'sleep').length === before;
}

function editPool(release: Release, spec: object): Promise<string> {
  return release.kubectl(
    'patch',
    'renderpool',
    'default',
    '--type=merge',
    '--patch',
    JSON.stringify({ spec }),
  );
}

function seconds(since: number): string {
  return ((performance.now() - since) / 1000).toFixed(1);
}
