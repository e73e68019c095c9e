#!/usr/bin/env node
/**
 * Fetches what Platen runs beside itself from Maven Central, into .cache/peers/<name>: the embedded database, and for tests a
 * Kafka broker, veraPDF and Mustang, which judge PDFs and e-invoices. Plain JavaScript, which Node 20 or newer runs before anything is installed.
 *
 *   node scripts/install-peers.mjs [mongo-java-server] [kafka] [verapdf] [mustang]     (no name: all)
 *
 * What is up to date is left alone; two runs at a time wait for one another.
 */
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const sources = join(root, 'peers');
const cache = join(root, '.cache', 'peers');
const LOCK_POLL_MS = 200;
/** What the launchers are made for. */
const JAVA = 17;

const known = readdirSync(sources);
const names = process.argv.length > 2 ? process.argv.slice(2) : known;
const unknown = names.filter((name) => !known.includes(name));
if (unknown.length > 0) fail(`unknown: ${unknown.join(', ')} (there are: ${known.join(', ')})`);

if (names.some((name) => !isUpToDate(name))) {
  try {
    useJavaHome();
    await withLock(installAll);
  } catch (error) {
    fail(error.message);
  }
}

/** Java is the one on PATH, else that of JAVA_HOME, as it is when the database is started. @throws when something lacks. */
function useJavaHome() {
  const { JAVA_HOME, PATH = '' } = process.env;
  if (JAVA_HOME) {
    // Maven takes this one, and no other.
    if (!existsSync(join(JAVA_HOME, 'bin', 'java'))) {
      throw new Error(
        `JAVA_HOME is ${JAVA_HOME}, where there is no Java: set it to a JDK (Java ${JAVA} or newer), or unset it`,
      );
    }
    process.env.PATH = `${PATH}${delimiter}${join(JAVA_HOME, 'bin')}`;
  }
  for (const command of ['java', 'javac', 'jar', 'mvn']) {
    const { error, stdout, stderr } = spawnSync(command, ['--version'], { encoding: 'utf8' });
    if (error?.code === 'ENOENT') throw new Error(missing(command));
    if (error !== undefined) throw new Error(`${command} cannot be run: ${error.message}`);
    const version = /^javac (\d+)/.exec(stdout)?.[1];
    if (command === 'javac' && !(Number(version) >= JAVA)) {
      const said = `${stdout}${stderr}`.trim().split('\n')[0];
      throw new Error(`javac is too old: a JDK of Java ${JAVA} or newer is needed (it says: ${said})`);
    }
  }
}

function missing(command) {
  return `${command} is not on PATH: a JDK (Java ${JAVA} or newer) and Maven are needed`;
}

async function installAll() {
  for (const name of names) {
    if (isUpToDate(name)) continue;
    const started = Date.now();
    await install(name);
    say(`${name}: ready after ${((Date.now() - started) / 1000).toFixed(1)} s`);
  }
}

/** Builds in a folder aside, and puts it in place when it is whole; the stamp is written last. */
async function install(name) {
  const target = join(cache, name);
  const building = join(cache, `.${name}.${process.pid}`);
  rmSync(building, { recursive: true, force: true });
  mkdirSync(join(building, 'jars'), { recursive: true });
  try {
    await fetchJars(name, join(building, 'jars'));
    await compileLaunchers(name, building);
    writeFileSync(join(building, 'java.args'), javaArguments(name, building));
    const version = join(sources, name, 'launcher.version');
    if (existsSync(version)) copyFileSync(version, join(building, 'launcher.version'));
    rmSync(target, { recursive: true, force: true });
    renameSync(building, target);
  } finally {
    rmSync(building, { recursive: true, force: true });
  }
  await archiveClasses(name, target);
  writeFileSync(join(target, '.stamp'), fingerprint(name));
}

async function fetchJars(name, folder) {
  say(`${name}: fetching jars with Maven`);
  const pom = join(sources, name, 'pom.xml');
  let fetched = 0;
  let reported = Date.now();
  await run('mvn', ['-B', '-f', pom, ...copyGoal(pom, folder)], (line) => {
    if (!line.includes('Downloaded')) return;
    fetched += 1;
    if (Date.now() - reported < 1000) return;
    reported = Date.now();
    say(`${name}: ${fetched} files fetched`);
  }).catch((error) => {
    throw new Error(`${name}: the jars could not be fetched from Maven Central: ${error.message}`);
  });
}

/** The dependencies of a pom with what they depend on, or the files that it lists, by themselves. */
function copyGoal(pom, folder) {
  if (readFileSync(pom, 'utf8').includes('<artifactItems>'))
    return ['dependency:copy', `-DoutputDirectory=${folder}`];
  return ['dependency:copy-dependencies', '-DincludeScope=runtime', `-DoutputDirectory=${folder}`];
}

/** Launchers of our own go into one jar: class data sharing knows jars only. */
async function compileLaunchers(name, folder) {
  const launchers = javaFiles(name);
  if (launchers.length === 0) return;
  say(`${name}: compiling ${launchers.length} classes`);
  const classes = join(folder, 'classes');
  await run('javac', [
    '-Xlint:all',
    // Whatever the locale is.
    '-encoding',
    'UTF-8',
    '--release',
    `${JAVA}`,
    '-cp',
    join(folder, 'jars', '*'),
    '-d',
    classes,
    ...launchers,
  ]);
  await run('jar', ['cf', join(folder, 'jars', 'launcher.jar'), '-C', classes, '.']);
  rmSync(classes, { recursive: true });
}

/** For `java @java.args` in the installed folder: the flags from the sources, and every jar. */
function javaArguments(name, folder) {
  const jars = readdirSync(join(folder, 'jars')).sort();
  const classPath = jars.map((jar) => `jars/${jar}`).join(delimiter);
  return `${readFileSync(join(sources, name, 'jvm.args'), 'utf8')}-cp ${classPath}\n`;
}

/** The embedded database keeps its loaded classes for later starts. Faster, not necessary. */
async function archiveClasses(name, folder) {
  if (name !== 'mongo-java-server') return;
  try {
    const { makeClassArchive } = await import('../src/infra/embedded-database/class-archive.ts');
    await makeClassArchive('java', folder);
  } catch (error) {
    say(`${name}: its first start will be slower, for no class archive could be made (${error.message})`);
  }
}

function isUpToDate(name) {
  try {
    return readFileSync(join(cache, name, '.stamp'), 'utf8') === fingerprint(name);
  } catch {
    return false;
  }
}

/** Of everything the result is made from, this script included. */
function fingerprint(name) {
  const hash = createHash('sha256');
  hash.update(readFileSync(fileURLToPath(import.meta.url)));
  for (const file of readdirSync(join(sources, name)).sort()) {
    hash.update(`\0${file}\0`).update(readFileSync(join(sources, name, file)));
  }
  return hash.digest('hex');
}

function javaFiles(name) {
  const folder = join(sources, name);
  return readdirSync(folder)
    .filter((file) => file.endsWith('.java'))
    .map((file) => join(folder, file));
}

/** One installer at a time; the lock of one that died is taken over. */
async function withLock(work) {
  mkdirSync(cache, { recursive: true });
  const lock = join(cache, '.lock');
  let announced = false;
  for (;;) {
    try {
      writeFileSync(lock, String(process.pid), { flag: 'wx' });
      // Two that found the same stale lock may each have removed one: the later writer has it.
      await sleep(LOCK_POLL_MS / 2);
      if (lockHolder(lock) === process.pid) break;
    } catch (error) {
      if (error.code !== 'EEXIST') {
        // An empty one would be waited for by all that come after.
        rmSync(lock, { force: true });
        throw error;
      }
    }
    const holder = lockHolder(lock);
    if (holder === undefined) {
      rmSync(lock, { force: true });
    } else if (holder !== process.pid) {
      if (!announced) say(`waiting for another installation (process ${holder})`);
      announced = true;
      await sleep(LOCK_POLL_MS);
    }
  }
  try {
    await work();
  } finally {
    rmSync(lock, { force: true });
  }
}

/** The process that holds the lock, or undefined when it is gone. */
function lockHolder(lock) {
  try {
    const holder = Number(readFileSync(lock, 'utf8'));
    // Empty: it is being written at this moment.
    if (holder !== 0) process.kill(holder, 0);
    return holder;
  } catch (error) {
    return error.code === 'EPERM' ? 'of another user' : undefined;
  }
}

/** Runs a command; its output is shown only when it fails. */
function run(command, args, onLine, cwd) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], cwd });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => {
        output += text;
        if (onLine) for (const line of text.split('\n')) onLine(line);
      });
    }
    child.on('error', (error) => {
      reject(error.code === 'ENOENT' ? new Error(missing(command)) : error);
    });
    child.on('close', (code) => {
      if (code === 0) resolve();
      else reject(new Error(`${command} ended with ${code}: ${gist(output)}`));
    });
  });
}

/** Maven marks what matters; of anything else all is shown. */
function gist(output) {
  const marked = output.split('\n').filter((line) => line.startsWith('[ERROR] '));
  return marked.length > 0 ? marked[0].slice('[ERROR] '.length) : output.trim();
}

function say(text) {
  console.log(`[peers] ${text}`);
}

function fail(text) {
  console.error(`[peers] ${text}`);
  process.exit(1);
}
