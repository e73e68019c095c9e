import assert from 'node:assert/strict';
import { totalmem } from 'node:os';
import { join } from 'node:path';
import { machineMemory, memoryGroups } from '../../../src/infra/machine/machine-memory.ts';

describe('memory of the machine', () => {
  it('is bound by its own control group and those above it', () => {
    const folders = memoryGroups('0::/kubepods/pod1/worker\n').map(({ folder, limit }) =>
      join(folder, limit),
    );
    assert.deepEqual(folders, [
      '/sys/fs/cgroup/kubepods/pod1/worker/memory.max',
      '/sys/fs/cgroup/kubepods/pod1/memory.max',
      '/sys/fs/cgroup/kubepods/memory.max',
      '/sys/fs/cgroup/memory.max',
    ]);
  });

  it('reads version 1 of control groups, and only those of memory', () => {
    const folders = memoryGroups('5:devices:/\n4:cpu,memory:/a\n1:name=systemd:/b\n').map(
      ({ folder, limit }) => join(folder, limit),
    );
    assert.deepEqual(folders, [
      '/sys/fs/cgroup/memory/a/memory.limit_in_bytes',
      '/sys/fs/cgroup/memory/memory.limit_in_bytes',
    ]);
  });

  it('is no more than the machine has, and not all of it is left', () => {
    const { total, available } = machineMemory();
    assert.ok(total > 0 && total <= totalmem());
    assert.ok(available() > 0 && available() < total);
  });
});
