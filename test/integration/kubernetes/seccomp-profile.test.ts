import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCommand } from '../../support/command.ts';
import { eventually } from '../../support/eventually.ts';
import { type ControlPlane, sharedControlPlane } from '../../support/kubernetes/control-plane.ts';
import { PROGRAM } from '../../support/program.ts';

const LABEL = 'platen.dev/seccomp-profile';
const PROFILE = new URL('../../../charts/platen/files/seccomp-profile.json', import.meta.url);

describe('platen install-seccomp-profile', () => {
  let plane: ControlPlane;
  let folder: string;
  let running: ChildProcess | undefined;

  before(async () => {
    plane = await sharedControlPlane();
    folder = await mkdtemp(join(tmpdir(), 'platen-seccomp-'));
  });
  afterEach(() => void running?.kill('SIGKILL'));
  after(() => rm(folder, { recursive: true, force: true }));

  const start = (node: string, target: string, version: string) => {
    running = spawn(
      process.execPath,
      [PROGRAM, 'install-seccomp-profile', PROFILE.pathname, target, `${LABEL}=${version}`],
      { env: { PATH: process.env.PATH, KUBECONFIG: plane.kubeconfigPath, NODE_NAME: node }, stdio: 'ignore' },
    );
    return running;
  };
  const createNode = async (name: string) => {
    const path = join(folder, `${name}.json`);
    await writeFile(path, JSON.stringify({ apiVersion: 'v1', kind: 'Node', metadata: { name } }));
    await plane.kubectl('create', '-f', path);
  };
  const labelOf = async (node: string) => {
    const { metadata } = JSON.parse(await plane.kubectl('get', 'node', node, '-o', 'json'));
    return metadata.labels?.[LABEL];
  };

  const hasLabel = (node: string, version: string) =>
    eventually(`${node} has the label ${version}`, async () => (await labelOf(node)) === version);

  it('writes the profile, and only then labels the node', async () => {
    await createNode('seccomp-a');
    const target = join(folder, 'kubelet/platen/sandbox-1.json');
    const child = start('seccomp-a', target, 'sandbox-1');
    await hasLabel('seccomp-a', 'sandbox-1');
    assert.deepEqual(await readFile(target), await readFile(PROFILE));
    assert.equal((await stat(target)).mode & 0o777, 0o644);
    child.kill('SIGTERM');
    assert.deepEqual(await once(child, 'exit'), [0, null]);
    // What the node has, it keeps: pods that run with the profile may start again.
    assert.equal(await labelOf('seccomp-a'), 'sandbox-1');
  });

  it('installs another profile when the chart brings one, and leaves the old file to the pods that use it', async () => {
    await createNode('seccomp-b');
    const [first, second] = ['sandbox-1', 'sandbox-2'].map((name) => join(folder, `b/platen/${name}.json`));
    start('seccomp-b', first!, 'sandbox-1');
    await hasLabel('seccomp-b', 'sandbox-1');
    running!.kill('SIGTERM');
    await once(running!, 'exit');
    start('seccomp-b', second!, 'sandbox-2');
    await hasLabel('seccomp-b', 'sandbox-2');
    assert.ok(existsSync(first!) && existsSync(second!));
  });

  it('keeps trying while the API server does not know the node', async () => {
    const target = join(folder, 'c/platen/sandbox-1.json');
    start('seccomp-c', target, 'sandbox-1');
    await eventually('the profile', () => existsSync(target));
    await createNode('seccomp-c');
    await hasLabel('seccomp-c', 'sandbox-1');
  });

  it('prints its usage', async () => {
    const { code, stderr } = await runCommand(['install-seccomp-profile', 'a', 'b']);
    assert.equal(code, 1);
    assert.match(stderr, /usage: platen install-seccomp-profile SOURCE TARGET LABEL=VALUE/);
    const nowhere = await runCommand(['install-seccomp-profile', 'a', 'b', 'c=d']);
    assert.match(nowhere.stderr, /NODE_NAME is not set/);
  });
});
