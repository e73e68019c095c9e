import { type Experiment, newExperiment, withoutSecrets } from './experiment.ts';

/** Before the experiment in an address, behind the # that no server is sent. */
const MARK = '#x=';
/** Characters of an address that every program passes on whole. */
const MOST_CHARACTERS = 8000;
/** Characters of an experiment that is read from an address: a short text may stand for a very long one. */
const MOST_READ = 2_000_000;
const SOURCES: readonly string[] = ['html', 'url', 'templateId'];
const TEXTS = ['html', 'url', 'templateId', 'data', 'sampleData', 'fileName'] as const;

export interface Linked {
  /** What an address ends with; undefined where it would be too long. */
  readonly fragment: string | undefined;
  /** What is secret, and so is in no address. */
  readonly leftOut: readonly string[];
}

/** What of an experiment goes into an address: neither secrets, nor whether it costs something, nor its last render. */
export function linkable(experiment: Experiment): Experiment {
  const { jobId: _, ...kept } = withoutSecrets(experiment);
  return { ...kept, mode: 'test', url: withoutPassword(kept.url) };
}

/** An experiment as the end of an address. */
export async function linkOf(experiment: Experiment): Promise<Linked> {
  const linked = linkable(experiment);
  const fragment = MARK + base64url(await packed(JSON.stringify(linked)));
  return {
    fragment: fragment.length <= MOST_CHARACTERS ? fragment : undefined,
    leftOut: [
      ...Object.keys(experiment.options).filter((name) => !(name in linked.options)),
      ...(linked.url === experiment.url ? [] : ['the password of the address']),
    ],
  };
}

export function isLink(fragment: string): boolean {
  return fragment.startsWith(MARK);
}

/** The experiment in an address, which may be anybody's; undefined where there is none that can be read. */
export async function experimentIn(fragment: string): Promise<Experiment | undefined> {
  if (!isLink(fragment)) return undefined;
  try {
    const bytes = Uint8Array.from(
      atob(fragment.slice(MARK.length).replaceAll('-', '+').replaceAll('_', '/')),
      (character) => character.charCodeAt(0),
    );
    return checked(JSON.parse(await unpacked(bytes)));
  } catch {
    return undefined;
  }
}

function checked(found: unknown): Experiment | undefined {
  if (!isObject(found)) return undefined;
  const given = { ...newExperiment(null), ...found };
  const { source, options } = given;
  if (!SOURCES.includes(source) || !isObject(options)) return undefined;
  if (TEXTS.some((name) => typeof given[name] !== 'string')) return undefined;
  const texts = Object.fromEntries(TEXTS.map((name) => [name, given[name]])) as Pick<
    Experiment,
    (typeof TEXTS)[number]
  >;
  return linkable({ ...texts, source, options, mode: 'test' });
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function withoutPassword(address: string): string {
  return address.replace(/^(\w+:\/\/)[^/?#@]*@/, '$1');
}

async function packed(text: string): Promise<Uint8Array> {
  const stream = new Blob([text]).stream().pipeThrough(new CompressionStream('deflate-raw'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

async function unpacked(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw'));
  const decoder = new TextDecoder();
  let text = '';
  for (const reader = stream.getReader(); ; ) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    text += decoder.decode(value, { stream: true });
    if (text.length > MOST_READ) throw new RangeError('too long');
  }
}

function base64url(bytes: Uint8Array): string {
  let binary = '';
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}
