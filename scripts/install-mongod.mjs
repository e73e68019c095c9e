#!/usr/bin/env node
/**
 * Fetches MongoDB's own server, by mongodb-memory-server-core, and puts it into FOLDER as `mongod`. It is taken only if the
 * archive is, byte for byte, one of those that are listed beside this script.
 *
 *   node scripts/install-mongod.mjs VERSION FOLDER [SUMS]     (SUMS: in place of scripts/mongod-archives.json)
 *
 * What it does is told on stdout, a line when the request is made and then one with everything that comes; on stderr in one
 * line why it could not be done. It neither waits nor tries again: whoever runs it ends it when nothing more is told.
 * Variables of mongodb-memory-server (MONGOMS_DOWNLOAD_MIRROR above all) are obeyed.
 */
import { createHash } from 'node:crypto';
import { createReadStream, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';

const [version, folder, sums = fileURLToPath(new URL('mongod-archives.json', import.meta.url))] =
  process.argv.slice(2);
/** Of a run: what is half-fetched is nobody else's. */
const SCRATCH = /^\.fetching\.(\d+)$/;

// The package trusts any certificate unless it is told this.
process.env.npm_config_strict_ssl = 'true';
process.env.MONGOMS_MAX_RETRIES ??= '1';

const parent = dirname(folder);
const scratch = join(parent, `.fetching.${process.pid}`);
let failed = false;
try {
  removeAbandoned();
  mkdirSync(scratch, { recursive: true });
  const fetched = await fetchServer();
  mkdirSync(folder, { recursive: true });
  renameSync(fetched, join(folder, 'mongod'));
  say(`MongoDB ${version} is there`);
} catch (error) {
  const reason = error.message.replace(/^Download failed for url "([^"]+)", Details:/, '$1:');
  console.error(reason.trim().replaceAll(/\s+/g, ' ').slice(0, 300));
  failed = true;
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
// At once, whatever the package has left open.
process.exit(failed ? 1 : 0);

/** @returns where it is. @throws Error that says why it cannot be had. */
async function fetchServer() {
  const load = (file) => import(`mongodb-memory-server-core/lib/util/${file}.js`);
  const [{ MongoBinaryDownload }, { MongoBinaryDownloadUrl }, { getOS }] = await Promise.all(
    ['MongoBinaryDownload', 'MongoBinaryDownloadUrl', 'getos/index'].map(load),
  ).catch((error) => {
    throw new Error(`what fetches it cannot be loaded: ${error.message}`);
  });
  const os = await getOS();
  const download = new MongoBinaryDownload({ version, downloadDir: scratch, checkMD5: false, os });
  const address = await new MongoBinaryDownloadUrl(download.binaryOpts).getDownloadUrl();
  const name = new URL(address).pathname.split('/').pop();
  const expected = JSON.parse(readFileSync(sums, 'utf8'))[name];
  if (expected === undefined) throw new Error(`no checksum of ${name} is known`);
  say(`fetching MongoDB ${version} from ${new URL(address).host}`);
  const archive = await download.startDownload();
  const found = await sha256(archive);
  if (found !== expected) throw new Error(`${name} has the SHA-256 ${found}, and not ${expected}`);
  say('unpacking it');
  return download.extract(archive);
}

async function sha256(file) {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  return hash.digest('hex');
}

/** What runs that were killed have left. */
function removeAbandoned() {
  mkdirSync(parent, { recursive: true });
  for (const name of readdirSync(parent)) {
    const pid = SCRATCH.exec(name)?.[1];
    if (pid !== undefined && !isRunning(Number(pid)))
      rmSync(join(parent, name), { recursive: true, force: true });
  }
}

function isRunning(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

function say(text) {
  console.log(text);
}
