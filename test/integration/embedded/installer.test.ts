import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const COMMANDS = ['java', 'javac', 'jar', 'mvn'] as const;

describe('The installation of the embedded database reports in one line', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'platen install '));
    await mkdir(join(folder, 'scripts'));
    await cp(join(root, 'scripts/install-peers.mjs'), join(folder, 'scripts/install-peers.mjs'));
    await cp(join(root, 'peers'), join(folder, 'peers'), { recursive: true });
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  /** Runs it where only these commands are, each a script. @returns the only line that it wrote. */
  const rejection = async (
    scripts: Partial<Record<(typeof COMMANDS)[number], string>>,
    javaHome?: string,
  ) => {
    const bin = join(folder, 'bin');
    await mkdir(bin);
    await symlink('/bin/sh', join(bin, 'sh'));
    for (const [name, script] of Object.entries(scripts)) {
      await writeFile(join(bin, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    }
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [join(folder, 'scripts/install-peers.mjs'), 'mongo-java-server'],
      { env: { PATH: bin, ...(javaHome !== undefined && { JAVA_HOME: javaHome }) }, encoding: 'utf8' },
    );
    assert.equal(status, 1);
    const lines = `${stdout}${stderr}`
      .trim()
      .split('\n')
      .filter((line) => !line.endsWith('fetching jars with Maven'));
    assert.equal(lines.length, 1, lines.join('\n'));
    return lines[0]!;
  };
  const good = { java: '', javac: 'echo javac 17.0.1', jar: '', mvn: '' };

  for (const command of COMMANDS) {
    it(`that ${command} is missing`, async () => {
      const { [command]: _, ...rest } = good;
      const line = await rejection(rest);
      assert.equal(line, `[peers] ${command} is not on PATH: a JDK (Java 17 or newer) and Maven are needed`);
    });
  }

  it('that the compiler is too old', async () => {
    const line = await rejection({ ...good, javac: 'echo javac 11.0.2' });
    assert.equal(
      line,
      '[peers] javac is too old: a JDK of Java 17 or newer is needed (it says: javac 11.0.2)',
    );
  });

  it('that JAVA_HOME leads nowhere', async () => {
    assert.match(
      await rejection(good, '/nowhere'),
      /^\[peers\] JAVA_HOME is \/nowhere, where there is no Java: /,
    );
  });

  it('what Maven could not fetch', async () => {
    const mvn =
      '[ "$1" = --version ] && exit 0; echo "[INFO] begun"; echo "[ERROR] no route"; echo "[ERROR] more"; exit 1';
    assert.equal(
      await rejection({ ...good, mvn }),
      '[peers] mongo-java-server: the jars could not be fetched from Maven Central: mvn ended with 1: no route',
    );
  });
});
