import type { RenderOptions } from '../../../options/all/render-options.ts';
import { loadSettings, needsOf } from '../../../options/all/stages.ts';
import type { LoadSettings, RenderNeeds } from '../../../options/core/option.ts';
import type { RenderSource } from '../../../renderer.ts';
import { withBase } from './base-element.ts';
import { type DocumentTraits, documentTraits, needsFrames } from './document-traits.ts';

/** A job's document, with all that is known about it before it is loaded. */
export interface JobDocument {
  readonly kind: RenderSource['kind'];
  /** The HTML itself, with `baseUrl` as its base, or the document's address. */
  readonly source: string;
  readonly template?: string | undefined;
  /** Traits found in its text; undefined for an address, since its content is not known. */
  readonly traits: DocumentTraits | undefined;
  readonly settings: LoadSettings;
  readonly needs: RenderNeeds;
  /** Whether the document's console output and exceptions are reported. */
  readonly reports?: boolean;
  /** Whether it runs no script, so that nothing in it changes by itself once it is loaded. */
  readonly still: boolean;
  /** It is only drawn correctly in a page that draws frames. */
  readonly needsFrames: boolean;
}

/** Reads a text once for the whole render. @param reports whether console output and exceptions are reported. */
export function examineDocument(source: RenderSource, options: RenderOptions, reports = false): JobDocument {
  const settings = loadSettings(options);
  const { scriptEnabled } = settings;
  const needs = needsOf(options, source.kind);
  if (source.kind === 'url') {
    const unknown = { traits: undefined, still: !scriptEnabled, needsFrames: true };
    return { kind: 'url', source: source.url, settings, needs, reports, ...unknown };
  }
  const { baseUrl } = settings;
  const html = baseUrl === undefined ? source.html : withBase(source.html, baseUrl);
  const traits = documentTraits(html, needs.script);
  const still = !(traits.scripted && scriptEnabled);
  // A page without frames cannot be shown in the report of a render that fails. A document that looks the same whenever
  // it is loaded is shown in another page then.
  const shownAnew = still && !traits.loads && !needs.navigation && !traits.lasting;
  return {
    kind: 'html',
    source: html,
    template: source.template,
    traits,
    settings,
    needs,
    reports,
    still,
    needsFrames: (options.report === true && !shownAnew) || needsFrames(traits, scriptEnabled),
  };
}
