import assert from 'node:assert/strict';
import { CommandError } from '../../../src/cli/command-error.ts';
import { COMMANDS } from '../../../src/cli/commands.ts';
import { runCommand } from '../../support/command.ts';

/** It is for the chart alone, and has no usage. */
const OF_THE_CHART = 'install-seccomp-profile';

const names = (text: string, name: string) => new RegExp(`\\bplaten ${name}[ \\n]`).test(text);

describe('the help of platen', () => {
  it('names each command, and is given by each without any setting', async () => {
    const { code, stdout, stderr } = await runCommand(['--help']);
    assert.deepEqual([code, stderr], [0, '']);
    const commands = [...COMMANDS].filter(([name]) => name !== OF_THE_CHART);
    assert.deepEqual(
      commands.map(([name]) => name).filter((name) => !names(stdout, name)),
      [],
    );
    for (const [name, run] of commands)
      await assert.rejects(run(['--help']), (help: unknown) => {
        assert.ok(help instanceof CommandError && names(help.message, name), String(help));
        return help.exitCode === 0;
      });
  });

  it('of a command is no failure', async () => {
    const { code, stdout, stderr } = await runCommand(['migrate', '-h']);
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(stdout, /^usage: platen migrate\n/);
  });

  it('is what a command that does not exist ends with, and exit code 2', async () => {
    const { code, stderr } = await runCommand(['renderr']);
    assert.equal(code, 2);
    assert.match(stderr, /^usage: platen /);
  });
});
