import { globSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, join } from 'node:path';
import { isExecutable, onPath } from '../../../infra/machine/find-executable.ts';
import type { BrowserBinary } from './browser-binary.ts';
import { bundledChromium } from './bundled-chromium.ts';
import { fontEnvironment } from './fonts.ts';

interface FindBrowserOptions {
  /** Used as given, without a search. */
  readonly browserPath?: string | undefined;
  readonly env?: NodeJS.ProcessEnv;
  readonly warn: (message: string) => void;
}

const FULL_NAMES = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome'];

/**
 * The first browser that is found: the given path; `chromium-headless-shell` on PATH; the shell that puppeteer has
 * downloaded; the one of the @sparticuz/chromium package (Linux); an ordinary Chromium.
 *
 * @throws Error when there is none, or the given path cannot be run.
 */
export async function findBrowser(options: FindBrowserOptions): Promise<BrowserBinary> {
  const { env = process.env, warn } = options;
  const path = await findPath(options.browserPath, env);
  const kind = kindOf(path);
  if (kind === 'full' && path !== options.browserPath)
    warn(`${path} is a full Chromium and prints half as fast as chromium-headless-shell.`);
  return { path, kind, env: fontEnvironment(env, warn) };
}

async function findPath(given: string | undefined, env: NodeJS.ProcessEnv): Promise<string> {
  if (given) {
    if (!isExecutable(given)) throw new Error(`The browser ${given} cannot be run.`);
    return given;
  }
  const path =
    onPath(['chromium-headless-shell', 'chrome-headless-shell'], env.PATH) ??
    downloadedShell(env) ??
    (await bundledChromium()) ??
    onPath(FULL_NAMES, env.PATH);
  if (path) return path;
  throw new Error('No Chromium was found: install chromium-headless-shell, or set PLATEN_CHROMIUM_PATH.');
}

/** A path is taken for a headless shell unless its name is that of an ordinary browser. */
function kindOf(path: string): BrowserBinary['kind'] {
  return [...FULL_NAMES, 'chrome'].includes(basename(path)) && !path.includes('shell') ? 'full' : 'shell';
}

function downloadedShell(env: NodeJS.ProcessEnv): string | undefined {
  const cache = env.PUPPETEER_CACHE_DIR ?? join(homedir(), '.cache', 'puppeteer');
  const found = globSync('chrome-headless-shell/*/*/chrome-headless-shell', { cwd: cache });
  return found
    .sort((a, b) => b.localeCompare(a, 'en', { numeric: true }))
    .map((path) => join(cache, path))
    .find(isExecutable);
}
