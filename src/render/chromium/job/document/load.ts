import type { EgressRecord } from '../../../../infra/egress/egress-record.ts';
import { PlatenError } from '../../../../infra/errors/registry.ts';
import type { RenderOptions } from '../../../options/all/render-options.ts';
import { pageSettings, printSettings } from '../../../options/all/stages.ts';
import type { Cookie } from '../../../options/core/option.ts';
import { pageWindow } from '../../../options/core/page-area.ts';
import { WINDOW_SIZE } from '../../../options/core/window-size.ts';
import { rejectionReason } from '../../page/rejected-command.ts';
import type { RenderPage } from '../../page/render-page.ts';
import { DOCUMENT_REPORTS } from '../../page/report-script.ts';
import { assetHeadersOf } from './asset-headers.ts';
import type { JobDocument } from './job-document.ts';
import { navigateToDocument, replaceContent, rewritePage } from './load-html.ts';
import type { LoadStrategy } from './load-strategy.ts';
import { openUrl } from './load-url.ts';

type Load = (page: RenderPage, document: JobDocument, outside: Outside) => Promise<void>;

/** Access to the network's records while documents are loaded. */
export interface Outside {
  readonly egress: EgressRecord | undefined;
}

const LOADS: Readonly<Record<LoadStrategy['load'], Load>> = {
  'replace-content': replaceContent,
  rewrite: rewritePage,
  navigate: navigateToDocument,
  'open-url': openUrl,
};

/** @throws PlatenError COOKIE_INVALID for a cookie that the browser rejects. */
async function setCookies({ session }: RenderPage, cookies: readonly Cookie[]): Promise<void> {
  const taken = await Promise.all(
    cookies.map((cookie) =>
      session.send('Network.setCookie', cookie).then(
        ({ success }) => success,
        (error: Error) => {
          if (rejectionReason(error) !== undefined) return false;
          throw error;
        },
      ),
    ),
  );
  const refused = taken.indexOf(false);
  if (refused === -1) return;
  const { name, url, domain } = cookies[refused]!;
  throw new PlatenError(
    'COOKIE_INVALID',
    `The browser refuses cookies[${refused}], "${name.slice(0, 64)}" for ${(url ?? domain ?? '').slice(0, 128)}: ` +
      'its name, domain, path or attributes do not go together.',
  );
}

/** Resolves at the milestone of `strategy`. @throws PlatenError when the document cannot be loaded. */
export async function loadWithOptions(
  page: RenderPage,
  strategy: LoadStrategy,
  document: JobDocument,
  { options, ...outside }: Outside & { readonly options: RenderOptions },
): Promise<void> {
  const wanted = pageSettings(options);
  // An option may give the window another size.
  if (!document.still) {
    const value = pageWindow(printSettings(options), document.traits?.pageRules);
    wanted.unshift({ setting: WINDOW_SIZE, value, option: 'format' });
  }
  const settled = page.settings.want(wanted);
  // Commands to the process of a document run in the order in which they are sent. A navigation may lead to another
  // process, which takes over only settings that the first one has confirmed by then.
  if (strategy.load === 'navigate' || strategy.load === 'open-url') await settled;
  await Promise.all([settled, loadDocument(page, strategy, document, outside)]);
}

async function loadDocument(
  page: RenderPage,
  strategy: LoadStrategy,
  document: JobDocument,
  outside: Outside,
): Promise<void> {
  // The first events after these are enabled still concern the previous document.
  await page.setDocumentEvents(page.drawsFrames || strategy.clean !== 'empty');
  if (document.reports && !document.still) await page.settings.set(DOCUMENT_REPORTS, true);
  page.lifecycle.begin();
  const assets = assetHeadersOf(document);
  if (strategy.clean !== 'empty') await page.credentials.begin(assets, document.settings);
  if (assets) page.interceptor.addHeaders(assets);
  const { cookies, blocked } = document.settings;
  if (blocked) page.interceptor.block(blocked);
  if (cookies) await setCookies(page, cookies);
  await LOADS[strategy.load](page, document, outside);
}
