import { setTimeout as pause } from 'node:timers/promises';
import type { RenderOptions } from '../../../options/all/render-options.ts';
import { needsTags } from '../../../pdf/conformance/target.ts';
import type { FinishStep } from '../../../pdf/finish-step.ts';
import { missingCharacterFaults } from '../../../report/accessibility.ts';
import type { Findings } from '../../../report/findings.ts';
import type { PrintedPages } from '../../../report/print-facts.ts';
import { arrived } from '../../../report/recorded-requests.ts';
import { redirections } from '../../../report/redirections.ts';
import type { CorePolicy } from '../../cpu/core-policy.ts';
import { DOCUMENT_ORIGIN } from '../../page/document-origin.ts';
import type { RenderPage } from '../../page/render-page.ts';
import type { JobDocument } from '../document/job-document.ts';
import type { JobFinisher } from '../finish.ts';
import { documentContent, hasChanged } from './change-watch.ts';
import { observationsOf } from './describe-facts.ts';
import { missingInSteps, textsOfOptions } from './drawn-over.ts';
import { needsInspection } from './fail-on.ts';
import { fontsUsed } from './fonts-used.ts';
import { inspectAccessibility } from './inspect-accessibility.ts';
import { inspectPage } from './inspect-page.ts';
import type { Fact } from './inspect-script.ts';
import { missingCharacters } from './missing-characters.ts';

/** Scripts have this time to show that they still change the document: some steps of a timer. Milliseconds. */
const CHANGE_MS = 100;

interface Observed {
  readonly page: RenderPage;
  readonly document: Pick<JobDocument, 'kind' | 'still'>;
  readonly core: CorePolicy;
  readonly finisher: JobFinisher;
  readonly options: RenderOptions;
  readonly findings?: Findings | undefined;
  readonly hyphenated: readonly string[];
  /** What is done to the PDF after it is printed. */
  readonly finishSteps: readonly FinishStep[];
}

/**
 * Observes a document that has just been printed and is still in the page, as far as its report or its rules need that.
 * The page is of no use for the document afterwards.
 */
export async function observePrint(pdf: Uint8Array, observed: Observed): Promise<void> {
  const { page, core, finisher, options, findings, hyphenated } = observed;
  const { still } = observed.document;
  if (findings === undefined) return;
  const inspects = options.report === true || needsInspection(options.failOn);
  const before = inspects && !still ? await core.step('page', documentContent(page)) : undefined;
  // Before a script may lead to another page, which is not the one that was printed.
  const address = inspects ? await finalAddress(observed) : undefined;
  const watched = performance.now() + CHANGE_MS;
  const readFonts = async () => {
    if (!options.report) return;
    // If the document replaces itself now, no fonts are reported.
    findings.fonts = await core.step(
      'page',
      fontsUsed(page).catch(() => []),
    );
  };
  // Scripts have this time to show that they still change the document. Any other document has its fonts read after the
  // inspection, for which it is laid out anyway.
  if (!still) await readFonts();
  const { conformance } = options;
  if (!inspects && !options.failOn?.missingGlyph && conformance === undefined) return;
  const printed = await core.step('outside', finisher.printedPages(pdf));
  const texts = [printed, ...(await core.step('outside', missingInSteps(observed.finishSteps, finisher)))];
  const isUnknown = texts.some(({ fontsWithUnknown }) => fontsWithUnknown > 0);
  const missing = isUnknown ? missingCharacters(page, textsOfOptions(options)).catch(() => []) : undefined;
  const characters = missing && (await core.step('page', missing));
  for (const text of texts) findings.addText(text, characters);
  if (before !== undefined) {
    await core.step('outside', pause(Math.max(0, watched - performance.now())));
    if (hasChanged(before, await core.step('page', documentContent(page))))
      findings.observe([STILL_CHANGING]);
  }
  if (conformance !== undefined) await observeFaults(observed, printed, findings);
  if (!inspects) return;
  const inspection = await core.step('page', inspectPage(page, printed, options, hyphenated));
  if (still) await readFonts();
  if (inspection.cut) findings.truncated.add('observations');
  findings.observe(redirections(findings.requests, address, findings.redactor));
  const facts = inspection.facts.filter((fact) => !isReported(fact, findings));
  findings.observe(observationsOf({ inspection: { ...inspection, facts }, printed, options }));
}

/** Adds what only the author of a document can mend, to have it conform. */
async function observeFaults(
  { page, core, options }: Observed,
  printed: PrintedPages,
  findings: Findings,
): Promise<void> {
  const { conformance = {} } = options;
  const missing = findings.missingGlyphs;
  if (!needsTags(conformance)) {
    findings.addFaults(missingCharacterFaults(missing, {}));
    return;
  }
  const characters = [...new Set(missing.map(({ character }) => character))];
  const looking = inspectAccessibility(page, printed, options, characters);
  const { faults, places, unseen } = await core.step('page', looking);
  findings.addFaults([...faults, ...missingCharacterFaults(missing, places)]);
  findings.unseen = unseen;
  if (unseen.length > 0) findings.truncated.add('accessibility');
}

/** The address of the page that was printed, which a script may have changed; undefined for a document that was sent. */
async function finalAddress({ page, document, core }: Observed): Promise<string | undefined> {
  if (document.kind !== 'url') return undefined;
  const address = page.runIsolated<string>('() => document.URL').catch(() => undefined);
  return await core.step('page', address);
}

/** Whether the requests say already that a picture or a font did not arrive. */
function isReported({ kind, name }: Fact, { requests, redactor }: Findings): boolean {
  const lost = requests.entries.filter((request) => !arrived(request));
  if (kind === 'badFont') return lost.some((request) => request.kind === 'font');
  if (kind !== 'undecodable') return false;
  const address = redactor.address(name);
  return name.startsWith(`${DOCUMENT_ORIGIN}/`) || lost.some(({ url }) => url === address);
}

const STILL_CHANGING = {
  rule: 'stillChanging',
  message:
    'scripts were still changing the document while it was printed, so a part of it may be missing; say when it is ready ' +
    'by waitForEvent, waitForSelector or waitForExpression',
  selector: null,
  page: null,
} as const;
