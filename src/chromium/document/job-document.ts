import type { RenderOptions } from '../../jobs/render-options.ts';
import type { Milestone } from '../page/document-lifecycle.ts';
import type { RenderSource } from '../renderer.ts';
import { type DocumentTraits, documentTraits, needsFrames } from './document-traits.ts';

/** A job's document, with all that is known of it before it is loaded. */
export interface JobDocument {
  readonly kind: RenderSource['kind'];
  /** The HTML itself, or the address that it is at. */
  readonly source: string;
  /** The source of the template that the HTML was made of, if it was. */
  readonly template?: string | undefined;
  /** What its text tells; undefined for an address, since nothing is known of what is there. */
  readonly traits: DocumentTraits | undefined;
  readonly scriptEnabled: boolean;
  /** Still: it runs no script, so that nothing in it changes by itself once it is loaded. */
  readonly still: boolean;
  /** It looks as it should only in a page that draws frames. */
  readonly needsFrames: boolean;
  /** How far it has to get to count as loaded. */
  readonly milestone: Milestone;
}

const MILESTONES: Readonly<Record<NonNullable<RenderOptions['waitUntil']>, Milestone>> = {
  load: 'load',
  domcontentloaded: 'DOMContentLoaded',
  networkidle: 'networkIdle',
};

/** Reads a document's text, once for the whole render. */
export function examineDocument(
  source: RenderSource,
  { javascriptEnabled: scriptEnabled = true, waitUntil = 'load' }: RenderOptions,
): JobDocument {
  const milestone = MILESTONES[waitUntil];
  if (source.kind === 'url') {
    const unknown = { traits: undefined, still: !scriptEnabled, needsFrames: true };
    return { kind: 'url', source: source.url, scriptEnabled, milestone, ...unknown };
  }
  const traits = documentTraits(source.html);
  return {
    kind: 'html',
    source: source.html,
    template: source.template,
    traits,
    scriptEnabled,
    still: !(traits.scripted && scriptEnabled),
    needsFrames: needsFrames(traits, scriptEnabled),
    milestone,
  };
}
