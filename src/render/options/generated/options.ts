// Made by `make generate` after the files of src/render/options; do not edit.
import { assetHeaders } from '../assetHeaders.ts';
import { assetOrigins } from '../assetOrigins.ts';
import { attachments } from '../attachments.ts';
import { baseUrl } from '../baseUrl.ts';
import { bestEffort } from '../bestEffort.ts';
import { blockRequests } from '../blockRequests.ts';
import { conformance } from '../conformance.ts';
import { cookies } from '../cookies.ts';
import { csp } from '../csp.ts';
import { delayMs } from '../delayMs.ts';
import { displayHeaderFooter } from '../displayHeaderFooter.ts';
import { einvoice } from '../einvoice.ts';
import { failOn } from '../failOn.ts';
import { fill } from '../fill.ts';
import { firstFooterTemplate } from '../firstFooterTemplate.ts';
import { firstHeaderTemplate } from '../firstHeaderTemplate.ts';
import { footerTemplate } from '../footerTemplate.ts';
import { format } from '../format.ts';
import { forms } from '../forms.ts';
import { headerTemplate } from '../headerTemplate.ts';
import { height } from '../height.ts';
import { javascriptEnabled } from '../javascriptEnabled.ts';
import { landscape } from '../landscape.ts';
import { lastFooterTemplate } from '../lastFooterTemplate.ts';
import { lastHeaderTemplate } from '../lastHeaderTemplate.ts';
import { locale } from '../locale.ts';
import { margin } from '../margin.ts';
import { mediaFeatures } from '../mediaFeatures.ts';
import { mediaType } from '../mediaType.ts';
import { metadata } from '../metadata.ts';
import { omitBackground } from '../omitBackground.ts';
import { outline } from '../outline.ts';
import { pageRanges } from '../pageRanges.ts';
import { preferCSSPageSize } from '../preferCSSPageSize.ts';
import { printBackground } from '../printBackground.ts';
import { protection } from '../protection.ts';
import { report } from '../report.ts';
import { scale } from '../scale.ts';
import { scripts } from '../scripts.ts';
import { seal } from '../seal.ts';
import { shrinkToFit } from '../shrinkToFit.ts';
import { singlePage } from '../singlePage.ts';
import { strictData } from '../strictData.ts';
import { styles } from '../styles.ts';
import { tableOfContents } from '../tableOfContents.ts';
import { tagged } from '../tagged.ts';
import { timeoutMs } from '../timeoutMs.ts';
import { timezone } from '../timezone.ts';
import { userAgent } from '../userAgent.ts';
import { viewport } from '../viewport.ts';
import { waitForEvent } from '../waitForEvent.ts';
import { waitForExpression } from '../waitForExpression.ts';
import { waitForSelector } from '../waitForSelector.ts';
import { waitUntil } from '../waitUntil.ts';
import { watermark } from '../watermark.ts';
import { width } from '../width.ts';

export const OPTIONS = {
  assetHeaders,
  assetOrigins,
  attachments,
  baseUrl,
  bestEffort,
  blockRequests,
  conformance,
  cookies,
  csp,
  delayMs,
  displayHeaderFooter,
  einvoice,
  failOn,
  fill,
  firstFooterTemplate,
  firstHeaderTemplate,
  footerTemplate,
  format,
  forms,
  headerTemplate,
  height,
  javascriptEnabled,
  landscape,
  lastFooterTemplate,
  lastHeaderTemplate,
  locale,
  margin,
  mediaFeatures,
  mediaType,
  metadata,
  omitBackground,
  outline,
  pageRanges,
  preferCSSPageSize,
  printBackground,
  protection,
  report,
  scale,
  scripts,
  seal,
  shrinkToFit,
  singlePage,
  strictData,
  styles,
  tableOfContents,
  tagged,
  timeoutMs,
  timezone,
  userAgent,
  viewport,
  waitForEvent,
  waitForExpression,
  waitForSelector,
  waitUntil,
  watermark,
  width,
};
