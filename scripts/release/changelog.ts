/** A change of a version, as the annotation artifacthub.io/changes has it. */
export interface Change {
  readonly kind: 'added' | 'changed' | 'deprecated' | 'removed' | 'fixed' | 'security';
  readonly description: string;
}

const KINDS: Readonly<Record<string, Change['kind']>> = {
  Added: 'added',
  Changed: 'changed',
  Deprecated: 'deprecated',
  Removed: 'removed',
  Fixed: 'fixed',
  Security: 'security',
};

/** The section of a version in a changelog (Keep a Changelog), without its heading; undefined when it has none. */
export function sectionOf(changelog: string, version: string): string | undefined {
  const sections = changelog.split(/^## /m).slice(1);
  const section = sections.find((text) => /^\[?([^\]\s]+)\]?/.exec(text)?.[1] === version);
  return section?.replace(/^.*\n/, '').trim();
}

/** The changes of a section, each as one line of plain text. What is under other headings, such as "Upgrade", is no change. */
export function changesIn(section: string): Change[] {
  return section.split(/^### /m).flatMap((part) => {
    const kind = KINDS[part.split('\n', 1)[0]!.trim()];
    if (kind === undefined) return [];
    const items = part.split(/^- /m).slice(1);
    return items.map((item) => ({ kind, description: plain(item) }));
  });
}

function plain(markdown: string): string {
  return markdown
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll('`', '')
    .replaceAll(/\s+/g, ' ')
    .trim();
}
