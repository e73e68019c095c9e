/** A bill of materials in CycloneDX's JSON, as far as it is written here. */
export interface Bom {
  readonly bomFormat: 'CycloneDX';
  readonly specVersion: '1.5';
  readonly version: 1;
  readonly metadata: { readonly timestamp: string; readonly component: Component };
  readonly components: readonly Component[];
}

interface Component {
  readonly type: 'application' | 'container' | 'library';
  readonly name: string;
  readonly version: string;
  readonly purl?: string;
}

/** What prints a line for each package of Debian in an image, as `debianBom` reads it. */
// biome-ignore lint/suspicious/noTemplateCurlyInString: it is the format of dpkg-query.
export const LIST_PACKAGES = ['dpkg-query', '-W', '-f', '${Package}\\t${Version}\\t${Architecture}\\n'];

/**
 * The Debian packages of an image.
 *
 * @param listed the output of `LIST_PACKAGES` in it.
 * @throws Error when a line is none of that.
 */
export function debianBom(image: string, version: string, listed: string, now: Date): Bom {
  const components = listed
    .trim()
    .split('\n')
    .map((line) => {
      const [name, found, arch] = line.split('\t');
      if (!name || !found || !arch) throw new Error(`no line of dpkg-query: ${line}`);
      const purl = `pkg:deb/debian/${encodeURIComponent(name)}@${encodeURIComponent(found)}?arch=${arch}`;
      return { type: 'library', name, version: found, purl } as const;
    });
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    version: 1,
    metadata: { timestamp: now.toISOString(), component: { type: 'container', name: image, version } },
    components,
  };
}

/** The bill of npm names the folder that it ran in; it becomes that of the service. */
export function namedBom(bom: string, name: string): string {
  const parsed = JSON.parse(bom) as { metadata: { component: { name: string; type: string } } };
  Object.assign(parsed.metadata.component, { name, type: 'application' });
  return `${JSON.stringify(parsed, null, 2)}\n`;
}
