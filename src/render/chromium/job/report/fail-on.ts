import { PlatenError } from '../../../../infra/errors/registry.ts';
import type { Conformance } from '../../../options/conformance.ts';
import type { FailOn } from '../../../options/failOn.ts';
import { nameOfTarget } from '../../../pdf/conformance/target.ts';
import { listOfFaults } from '../../../report/accessibility.ts';
import type { Findings } from '../../../report/findings.ts';
import { OBSERVATION_RULES, type ObservationRule } from '../../../report/observation-rules.ts';
import { type LoggedRequest, RELATIVE } from '../../../report/recorded-requests.ts';

/** Client errors after which another attempt may succeed: Request Timeout, Too Early, Too Many Requests. */
const TRANSIENT_STATUS = new Set([408, 425, 429]);

/**
 * Fails a render by the findings of its report, and by nothing else.
 *
 * @throws PlatenError URL_UNREACHABLE, ASSET_FAILED, EXCEPTION_THROWN, GLYPH_MISSING or DOCUMENT_FAULT for the first finding that
 *   `rules` do not allow.
 */
export function requireNoViolation(findings: Findings | undefined, rules: FailOn | undefined): void {
  if (findings === undefined || rules === undefined) return;
  const { requests, exceptions, missingGlyphs, observations } = findings;
  const { pageStatus = [], assetStatus = [], assetUnreachable, ignoreHosts = [] } = rules;
  for (const request of requests.entries) {
    const { url, host, main, status } = request;
    if (main && within(status, pageStatus)) {
      const message = `The source URL answered with status ${status}, which failOn.pageStatus does not allow.`;
      throw new PlatenError('URL_UNREACHABLE', message, { permanent: isPermanent(status) });
    }
    if (main || ignoreHosts.includes(host)) continue;
    if (within(status, assetStatus)) {
      const message = `${url} answered with status ${status}, which failOn.assetStatus does not allow.`;
      throw new PlatenError('ASSET_FAILED', message, { permanent: isPermanent(status) });
    }
    // Nobody has it: as if a server had answered so.
    const notFound = request.rule === RELATIVE && within(404, assetStatus);
    if (notFound || (assetUnreachable && isUnreachable(request))) {
      const message = `${url} could not be loaded (${request.rule ?? request.error ?? request.outcome}).`;
      throw new PlatenError('ASSET_FAILED', message, {
        permanent: request.outcome === 'blocked' || request.rule === RELATIVE,
      });
    }
  }
  if (rules.exception && exceptions[0] !== undefined) {
    const { message, at } = exceptions[0];
    throw new PlatenError('EXCEPTION_THROWN', `A script has thrown: ${message}${at && ` (${at})`}.`);
  }
  if (rules.missingGlyph && missingGlyphs[0] !== undefined) {
    const { codePoint, character, page } = missingGlyphs[0];
    throw new PlatenError('GLYPH_MISSING', `No font has "${character}" (${codePoint}), on page ${page}.`);
  }
  const observation = observations.find(({ rule }) => fails(rule, rules));
  if (observation === undefined) return;
  const { rule, message } = observation;
  if (rules[rule]) throw new PlatenError('DOCUMENT_FAULT', `failOn.${rule}: ${message}.`);
  throw new PlatenError('ASSET_FAILED', `${message}.`, { permanent: true });
}

/**
 * Fails a render that was to conform, by the faults that only the author of its document can mend.
 *
 * @throws PlatenError CONFORMANCE_FAILED.
 */
export function requireConformance(findings: Findings | undefined, wanted: Conformance | undefined): void {
  if (findings === undefined || wanted === undefined || wanted.onFault === 'report') return;
  const { accessibility } = findings;
  if (accessibility.length === 0) return;
  throw new PlatenError('CONFORMANCE_FAILED', listOfFaults(accessibility, nameOfTarget(wanted)));
}

/** Whether an observation fails the render. What arrived and cannot be shown is as good as what did not arrive. */
function fails(rule: ObservationRule, rules: FailOn): boolean {
  return rules[rule] ?? (rule === 'undecodable' && rules.assetUnreachable === true);
}

/** Whether rules require an inspection of the printed document. */
export function needsInspection(rules: FailOn | undefined): boolean {
  return rules !== undefined && OBSERVATION_RULES.some((rule) => fails(rule, rules));
}

/** Whether no response came, or the egress proxy blocked the request; a block by the document's policy is none. */
function isUnreachable({ outcome, rule }: LoggedRequest): boolean {
  return outcome === 'unreachable' || (outcome === 'blocked' && rule === 'egress');
}

function within(status: number | null, ranges: readonly string[]): boolean {
  return ranges.some((range) => {
    const [from, to = from] = range.split('-').map(Number);
    return status !== null && status >= from! && status <= to!;
  });
}

function isPermanent(status: number | null): boolean {
  return status === null || (status < 500 && !TRANSIENT_STATUS.has(status));
}
