import type { Browser, CDPSession } from 'puppeteer';
import { within } from '../../../infra/async/timeout.ts';
import { BROWSER_WINDOW } from '../../options/core/page-area.ts';
import type { BoundedPipe } from './bounded-pipe.ts';
import type { BrowserBinary } from './browser-binary.ts';
import type { Service, ServicePids } from './browser-services.ts';
import { addDictionaries } from './hyphen-data.ts';
import { DEFAULT_LOCALE, localeEnvironment } from './locale.ts';
import { niceRenderers } from './priority.ts';
import { descendsFrom, killGroup, killProcess, processTree } from './processes.ts';
import { NO_COMPONENTS, spawnBrowser } from './spawn-browser.ts';
import { createUserDataFolder, removeUserDataFolder } from './user-data.ts';

/** The interface that a CDP session and its connection share; nothing else of either is used. */
export type Connection = NonNullable<ReturnType<CDPSession['connection']>>;

export interface LaunchOptions {
  readonly binary: BrowserBinary;
  readonly userDataRoot: string;
  /** Folder in which its processes share memory: see sharedMemoryRoot. Default: with its user data. */
  readonly sharedMemoryRoot?: string | undefined;
  /** The proxy for all network traffic, `http://host:port`; without it there is no network. */
  readonly proxyUrl?: string | undefined;
  readonly timeoutMs: number;
  /** The language of documents that are given none. BCP 47. Default DEFAULT_LOCALE. */
  readonly locale?: string | undefined;
  /** Whether Chromium's own sandbox is used; default true, and never as root. */
  readonly sandbox?: boolean;
}

/** A running browser: its connection and its process. Nothing has been opened in it yet. */
export interface LaunchedBrowser {
  readonly kind: BrowserBinary['kind'];
  readonly connection: Connection;
  /** The transport of the connection. */
  readonly pipe: BoundedPipe;
  /** Pid of the browser's main process, the root of its process tree. */
  readonly pid: number;
  readonly services: ServicePids;
  /** Resolves when the browser has ended, for whatever reason. */
  readonly exited: Promise<void>;
  /** Ends the whole process tree at once, and removes its folders. May be called again. */
  kill(): Promise<void>;
}

/** Port 9 of the loopback (discard): nothing listens, so without an egress proxy every request fails. */
const NO_NETWORK = 'http://127.0.0.1:9';

/**
 * Keeps a browser from fetching parts of itself. A full Chromium would leave all of them alone without updates, also its
 * hyphenation dictionaries; so the first update is put off for 30 years, and then finds nothing.
 */
const NO_UPDATES = {
  shell: NO_COMPONENTS,
  full: `--component-updater=initial-delay=1000000000,url-source=${NO_NETWORK}/`,
} as const;

/** Features that only cost time here, or that do more than a render needs. */
const DISABLED_FEATURES = [
  // A process kept ready for a page that never comes; it and the next three were measured at half of a navigation's
  // cost.
  'SpareRendererForSitePerProcess',
  'BackForwardCache',
  'RenderDocument',
  'ProactivelySwapBrowsingInstance',
  // One process per context is the boundary between accounts; frames of one document may share it.
  'IsolateOrigins',
  'site-per-process',
  // This feature would keep a worker of one job alive into the next.
  'SharedWorkerExtendedLifetime',
  // The egress proxy decides which networks may be reached; there is no user to ask for permission.
  'LocalNetworkAccessChecks',
  'Translate',
  'MediaRouter',
  'OptimizationHints',
  'InterestFeedContentSuggestions',
  'AcceptCHFrame',
  'PaintHolding',
];

/**
 * Starts a browser that is controlled over a pipe. Chromium exits when the pipe closes, even when this process was
 * killed.
 *
 * @throws Error when it does not respond within `timeoutMs`; the browser is then ended completely.
 */
export async function launchBrowser(options: LaunchOptions): Promise<LaunchedBrowser> {
  const { locale = DEFAULT_LOCALE } = options;
  const userData = createUserDataFolder(options.userDataRoot);
  const shared =
    options.sharedMemoryRoot === undefined ? userData : createUserDataFolder(options.sharedMemoryRoot);
  if (options.binary.kind === 'full') addDictionaries(userData);
  const removeFolders = () => [userData, shared].forEach(removeUserDataFolder);
  const { browser, pipe, child } = await spawnBrowser({
    path: options.binary.path,
    kind: options.binary.kind,
    userDataDir: userData,
    args: [
      ...browserArguments(options.proxyUrl ?? NO_NETWORK, options.sandbox ?? true),
      NO_UPDATES[options.binary.kind],
      `--accept-lang=${locale}`,
    ],
    // Temporary files that remain when it is killed are removed with its folders.
    env: {
      ...withoutSecrets(process.env),
      ...options.binary.env,
      ...localeEnvironment(locale),
      TMPDIR: shared,
    },
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
    // Lists zygotes and renderers before killing: once the browser has ended they belong to init.
    for (const member of processTree(started)) killProcess(member.pid);
    await exited;
    removeFolders();
  };
  try {
    const connection = await within(options.timeoutMs, 'connecting to the browser', connect(browser));
    const pids = await within(
      options.timeoutMs,
      'asking the browser for its pids',
      browserPids(connection, started),
    );
    niceRenderers(pids.pid);
    return { kind: options.binary.kind, connection, pipe, ...pids, exited, kill };
  } catch (error) {
    await kill();
    throw error;
  }
}

/** What a browser calls the processes that its pages share, or the service in such a process. */
const SERVICES: readonly (readonly [Service, string])[] = [
  ['gpu', 'GPU'],
  ['network', 'network.mojom.NetworkService'],
];

/**
 * The pids of the browser itself and of processes that its pages share. The started program may be a script that runs
 * the browser as its child, as Debian's /usr/bin/chromium-headless-shell does.
 */
export async function browserPids(
  connection: Connection,
  started: number,
): Promise<Pick<LaunchedBrowser, 'pid' | 'services'>> {
  const { processInfo } = await connection.send('SystemInfo.getProcessInfo');
  const pidOf = (kind: string) => {
    const pid = processInfo.find(({ type }) => type === kind)?.id;
    // If the script gives the browser its own pid namespace, the browser reports other pids than those seen here.
    return pid !== undefined && descendsFrom(pid, started) ? pid : undefined;
  };
  const services = SERVICES.flatMap(([service, kind]) => {
    const pid = pidOf(kind);
    return pid === undefined ? [] : [[service, pid] as const];
  });
  return { pid: pidOf('browser') ?? started, services: Object.fromEntries(services) };
}

/** From here on targets are attached to explicitly: puppeteer's automatic attaching costs four messages per target. */
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
    // Loopback addresses go through the proxy too.
    '--proxy-bypass-list=<-loopback>',
    `--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE ${new URL(proxyUrl).hostname}`,
    // The first is read by a full Chromium, the second by a headless shell.
    '--webrtc-ip-handling-policy=disable_non_proxied_udp',
    '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
    '--dns-prefetch-disable',
    '--disable-quic',
    '--disable-domain-reliability',
    '--no-pings',
    // Documents' console output is written nowhere.
    '--log-level=3',
    '--disable-gpu',
    // Otherwise a browser whose GPU process has ended three times has no WebGL any more, and ends itself after six times;
    // and after one such end the origin that all documents share may be refused WebGL.
    '--disable-gpu-process-crash-limit',
    '--disable-domain-blocking-for-3d-apis',
    '--disable-blink-features=StorageBuckets',
    '--disable-site-isolation-trials',
    '--block-new-web-contents',
    '--font-render-hinting=none',
    '--disk-cache-size=67108864',
    // Of a full Chromium, its frame takes part of the height.
    `--window-size=${BROWSER_WINDOW.width},${BROWSER_WINDOW.height}`,
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
 * Whether a browser starts only without its sandbox, as in most containers: they reject the calls that the sandbox is
 * built from (user namespaces, chroot). Found by trying, since each kind of rejection has its own message. False for
 * root.
 *
 * @throws Error when it starts neither way, or does not respond in time.
 */
export async function sandboxIsRefused(options: LaunchOptions): Promise<boolean> {
  if (isRoot()) return false;
  const starts = async (sandbox: boolean) => (await launchBrowser({ ...options, sandbox })).kill();
  const refused = await starts(true).then(
    () => false,
    (error: Error) => {
      // A machine that is slow once is no reason to run without the sandbox.
      if (error.name === 'TimeoutError') throw error;
      return true;
    },
  );
  if (refused) await starts(false);
  return refused;
}

/** Nothing of this process's configuration reaches the browser. */
function withoutSecrets(env: NodeJS.ProcessEnv): Record<string, string> {
  const kept = ['PATH', 'HOME', 'TZ', 'LD_LIBRARY_PATH', 'FONTCONFIG_PATH', 'FONTCONFIG_FILE'];
  return Object.fromEntries(kept.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])));
}
