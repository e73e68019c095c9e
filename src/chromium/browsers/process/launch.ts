import type { Browser, CDPSession } from 'puppeteer';
import { within } from '../../../async/timeout.ts';
import type { BoundedPipe } from './bounded-pipe.ts';
import type { BrowserBinary } from './browser-binary.ts';
import { niceRenderers } from './priority.ts';
import { killGroup, killProcess, processTree } from './processes.ts';
import { spawnBrowser } from './spawn-browser.ts';
import { createUserDataFolder, removeUserDataFolder } from './user-data.ts';

/** What a CDP session and the connection below it have in common, and all that is used of either. */
export type Connection = NonNullable<ReturnType<CDPSession['connection']>>;

export interface LaunchOptions {
  readonly binary: BrowserBinary;
  readonly userDataRoot: string;
  /** Where its processes share memory: see sharedMemoryRoot. Default: with its user data. */
  readonly sharedMemoryRoot?: string | undefined;
  /** The only way to the network, `http://host:port`; without it there is none. */
  readonly proxyUrl?: string | undefined;
  readonly timeoutMs: number;
  /** Whether Chromium's own sandbox is used; default true, and never as root. */
  readonly sandbox?: boolean;
}

/** A running browser: its connection and its process, nothing opened in it yet. */
export interface LaunchedBrowser {
  readonly kind: BrowserBinary['kind'];
  readonly connection: Connection;
  /** Below the connection. */
  readonly pipe: BoundedPipe;
  /** Of the browser's main process, the root of the others. */
  readonly pid: number;
  /** Resolves when it has ended, however that came. */
  readonly exited: Promise<void>;
  /** Ends the whole process tree at once, and removes its folder. Safe to call again. */
  kill(): Promise<void>;
}

/** Port 9 of the loopback (discard): nothing listens, so without an egress proxy every request fails. */
const NO_NETWORK = 'http://127.0.0.1:9';

/** Features that only cost here, or that reach past what a render is. */
const DISABLED_FEATURES = [
  // A process kept ready for a page that never comes; measured with the next three at half of a navigation's cost.
  'SpareRendererForSitePerProcess',
  'BackForwardCache',
  'RenderDocument',
  'ProactivelySwapBrowsingInstance',
  // One process per context is the boundary between accounts; frames of one document may share it.
  'IsolateOrigins',
  'site-per-process',
  // Would keep a worker of one job alive into the next.
  'SharedWorkerExtendedLifetime',
  // The egress proxy decides which networks may be reached; there is nobody to ask for permission.
  'LocalNetworkAccessChecks',
  'Translate',
  'MediaRouter',
  'OptimizationHints',
  'InterestFeedContentSuggestions',
  'AcceptCHFrame',
  'PaintHolding',
];

/**
 * Starts a browser over a pipe. The pipe is also what ends it: Chromium exits when it closes, even when this process
 * was killed.
 *
 * @throws Error when it does not answer within `timeoutMs`; then nothing of it is left.
 */
export async function launchBrowser(options: LaunchOptions): Promise<LaunchedBrowser> {
  const userData = createUserDataFolder(options.userDataRoot);
  const shared =
    options.sharedMemoryRoot === undefined ? userData : createUserDataFolder(options.sharedMemoryRoot);
  const removeFolders = () => [userData, shared].forEach(removeUserDataFolder);
  const { browser, pipe, child } = await spawnBrowser({
    path: options.binary.path,
    kind: options.binary.kind,
    userDataDir: userData,
    args: browserArguments(options.proxyUrl ?? NO_NETWORK, options.sandbox ?? true),
    // What it leaves when it is killed goes with its folders.
    env: { ...withoutSecrets(process.env), ...options.binary.env, TMPDIR: shared },
    timeoutMs: options.timeoutMs,
  }).catch((error: unknown) => {
    removeFolders();
    throw error;
  });
  const started = child.pid!;
  const exited = new Promise<void>((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) resolve();
    else child.once('exit', () => resolve());
  }).then(() => {
    // A script that started the browser can end before it.
    killGroup(started);
    removeFolders();
  });
  const kill = async () => {
    // Zygotes and renderers first found, then killed: once the browser is gone they belong to init.
    for (const member of processTree(started)) killProcess(member.pid);
    await exited;
    removeFolders();
  };
  try {
    const connection = await within(options.timeoutMs, 'connecting to the browser', connect(browser));
    const pid = await within(
      options.timeoutMs,
      'asking the browser for its pid',
      browserPid(connection, started),
    );
    niceRenderers(pid);
    return { kind: options.binary.kind, connection, pipe, pid, exited, kill };
  } catch (error) {
    await kill();
    throw error;
  }
}

/**
 * The pid of the browser itself. What was started may be a script that runs it as its child, as Debian's
 * /usr/bin/chromium-headless-shell does.
 */
async function browserPid(connection: Connection, started: number): Promise<number> {
  const { processInfo } = await connection.send('SystemInfo.getProcessInfo');
  const pid = processInfo.find(({ type }) => type === 'browser')?.id;
  // Behind a script that gives it a pid namespace of its own, its pid is another one out here.
  return processTree(started).some((member) => member.pid === pid) ? pid! : started;
}

/** From here on targets are attached to by hand: puppeteer's own attaching costs four messages per target. */
async function connect(browser: Browser): Promise<Connection> {
  const session = await browser.target().createCDPSession();
  const connection = session.connection()!;
  await session.detach();
  await connection.send('Target.setAutoAttach', {
    autoAttach: false,
    waitForDebuggerOnStart: false,
    flatten: true,
  });
  return connection;
}

function browserArguments(proxyUrl: string, sandbox: boolean): string[] {
  const args = [
    `--proxy-server=${proxyUrl}`,
    // Loopback addresses too go through the proxy.
    '--proxy-bypass-list=<-loopback>',
    `--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE ${new URL(proxyUrl).hostname}`,
    '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
    '--dns-prefetch-disable',
    '--disable-quic',
    '--disable-component-update',
    '--disable-domain-reliability',
    '--no-pings',
    // What documents write to their console is written nowhere.
    '--log-level=3',
    '--disable-gpu',
    '--disable-blink-features=StorageBuckets',
    '--disable-site-isolation-trials',
    '--block-new-web-contents',
    '--font-render-hinting=none',
    '--disk-cache-size=67108864',
    '--js-flags=--max-old-space-size=1024',
    `--disable-features=${DISABLED_FEATURES.join(',')}`,
  ];
  if (!sandbox || isRoot()) args.push('--no-sandbox');
  return args;
}

/** Chromium refuses to run sandboxed as root. */
export function isRoot(): boolean {
  return process.getuid?.() === 0;
}

/**
 * Whether a browser starts without its sandbox only, as in most containers: they refuse what it is built from (user
 * namespaces, chroot). Tried rather than asked, for each of the ways to refuse has a message of its own. False for root.
 *
 * @throws Error when it starts neither way, or does not answer in time.
 */
export async function sandboxIsRefused(options: LaunchOptions): Promise<boolean> {
  if (isRoot()) return false;
  const starts = async (sandbox: boolean) => (await launchBrowser({ ...options, sandbox })).kill();
  const refused = await starts(true).then(
    () => false,
    (error: Error) => {
      // A machine that is slow for once is no reason to do without.
      if (error.name === 'TimeoutError') throw error;
      return true;
    },
  );
  if (refused) await starts(false);
  return refused;
}

/** Nothing of this process's configuration reaches the browser. */
function withoutSecrets(env: NodeJS.ProcessEnv): Record<string, string> {
  const kept = [
    'PATH',
    'HOME',
    'LANG',
    'LC_ALL',
    'TZ',
    'LD_LIBRARY_PATH',
    'FONTCONFIG_PATH',
    'FONTCONFIG_FILE',
  ];
  return Object.fromEntries(kept.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])));
}
