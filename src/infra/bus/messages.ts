import type { JobClass, JobEvent, JobPointer, OutputOffer } from './bus.ts';

const EVENT_KINDS: readonly JobEvent['kind'][] = ['offered', 'ended', 'retrying', 'cancelled'];

export function encodePointer(pointer: JobPointer): string {
  return JSON.stringify(pointer);
}

export function encodeEvent({ jobId, kind, offer }: JobEvent): string {
  return JSON.stringify({ jobId, kind, ...(offer && { offer }) });
}

/** @returns undefined when the bytes are no pointer of this pool and class. */
export function decodePointer(
  bytes: Buffer | null,
  pool: string,
  jobClass: JobClass,
): JobPointer | undefined {
  const fields = fieldsOf(bytes);
  const { jobId, version, routingKey } = fields;
  if (typeof jobId !== 'string' || jobId === '' || typeof routingKey !== 'string') return undefined;
  if (!Number.isSafeInteger(version)) return undefined;
  if (fields.pool !== pool || fields.class !== jobClass) return undefined;
  const ownInput = fields.ownInput === true && ({ ownInput: true } as const);
  return { jobId, version: version as number, class: jobClass, pool, routingKey, ...ownInput };
}

/** @returns undefined when the bytes are no event. */
export function decodeEvent(bytes: Buffer | null): JobEvent | undefined {
  const { jobId, kind, offer } = fieldsOf(bytes);
  if (typeof jobId !== 'string' || jobId === '') return undefined;
  const known = EVENT_KINDS.find((candidate) => candidate === kind);
  if (known === undefined) return undefined;
  if (known !== 'offered') return { jobId, kind: known };
  return isOffer(offer) ? { jobId, kind: known, offer } : undefined;
}

function isOffer(value: unknown): value is OutputOffer {
  const { url, key } = (value ?? {}) as Record<string, unknown>;
  return typeof url === 'string' && URL.canParse(url) && typeof key === 'string';
}

function fieldsOf(bytes: Buffer | null): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(bytes?.toString('utf8') ?? '');
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
