import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Builds a program from the Go module proxy, aside, and puts it in place when it is whole; the stamp is written last. What is
 * up to date is left alone. Plain JavaScript, which Node 20 or newer runs before anything is installed.
 *
 * @param {object} wanted
 * @param {string} wanted.module package and version, as `go install` takes them; the program has its last name
 * @param {string} wanted.folder where the program is to be
 * @param {string} wanted.name what it is to be called there
 * @param {string} wanted.stamp the file that says what is there
 * @param {number} wanted.limitMs how long it may take, in milliseconds
 * @param {() => void} wanted.begins is called before it is built
 * @throws Error when it could not be built
 */
export function goInstall({ module, folder, name, stamp, limitMs, begins }) {
  if (read(stamp) === module) return;
  begins();
  const building = mkdtempSync(join(folder, `.${name}-`));
  try {
    const { error, status } = spawnSync('go', ['install', '-trimpath', '-ldflags=-s -w', module], {
      // Not in a workspace or module that the caller may stand in, and with whatever Go the module asks for. What only
      // debuggers read is not made, which takes a tenth of the time.
      cwd: building,
      env: {
        ...process.env,
        GOBIN: building,
        GOFLAGS: '-gcflags=all=-dwarf=false',
        GOWORK: 'off',
        CGO_ENABLED: '0',
      },
      stdio: ['ignore', 'inherit', 'inherit'],
      timeout: limitMs,
    });
    if (error?.code === 'ENOENT') throw new Error('go is not on PATH: Go 1.24 or newer is needed');
    if (error !== undefined) throw new Error(`${name} could not be built: ${error.message}`);
    if (status !== 0) throw new Error(`${name} could not be built: go ended with ${status}`);
    const [program] = module.split('@')[0].split('/').slice(-1);
    renameSync(join(building, program), join(folder, name));
    writeFileSync(stamp, module);
  } finally {
    rmSync(building, { recursive: true, force: true });
  }
}

function read(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
