import type { Schemas } from './api.ts';

/** A template to begin with; `examples/templates` has them, the documentation shows them. */
export interface Beginning {
  readonly slug: string;
  readonly name: string;
  readonly description: string;
  /** The address of a picture of its first page. */
  readonly picture: string;
  /** What a new template is made of. */
  readonly load: () => Promise<Schemas['TemplateRequest']>;
}

interface Described {
  readonly name: string;
  readonly description: string;
  readonly options: Record<string, unknown>;
  readonly data: unknown;
}

const DESCRIBED = import.meta.glob<Described>('../../examples/templates/*.json', {
  eager: true,
  import: 'default',
});
const PICTURES = import.meta.glob<string>('../../docs/pictures/templates/*.webp', {
  eager: true,
  query: '?url',
  import: 'default',
});
/** Each is loaded when it is chosen. */
const CONTENTS = import.meta.glob<string>('../../examples/templates/*.html', {
  query: '?raw',
  import: 'default',
});

export const GALLERY: readonly Beginning[] = Object.entries(DESCRIBED).map(([path, described]) => {
  const slug = path.replace(/^.*\/(.*)\.json$/, '$1');
  const { name, description, options, data } = described;
  return {
    ...{ slug, name, description },
    picture: PICTURES[`../../docs/pictures/templates/${slug}.webp`] ?? '',
    async load() {
      const content = await CONTENTS[path.replace('.json', '.html')]!();
      return { name, content, sampleData: JSON.stringify(data, null, 2), options };
    },
  };
});
