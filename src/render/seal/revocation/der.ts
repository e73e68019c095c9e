/** A value of DER, as views of the bytes that it was read from. */
export interface DerValue {
  /** Class, form and number, as they are in its first byte. */
  readonly tag: number;
  readonly content: Uint8Array;
  /** With its tag and its length. */
  readonly whole: Uint8Array;
}

export const TAG = { integer: 0x02, sequence: 0x30, utcTime: 0x17, generalizedTime: 0x18 } as const;

/**
 * The values that follow each other in `bytes`, one at a time: a revocation list has a hundred thousand of them, for which
 * asn1js takes seconds and hundreds of megabytes.
 *
 * @throws RangeError for bytes that are not DER of tags below 31.
 */
export function* derValues(bytes: Uint8Array): Generator<DerValue, undefined> {
  for (let at = 0; at < bytes.length; ) {
    const tag = bytes[at]!;
    let length = bytes[at + 1] ?? Number.NaN;
    let begin = at + 2;
    if (length > 0x80) {
      const digits = length & 0x7f;
      length = digits > 4 ? Number.NaN : 0;
      for (let i = 0; i < digits; i += 1) length = length * 256 + (bytes[begin + i] ?? Number.NaN);
      begin += digits;
    } else if (length === 0x80) length = Number.NaN;
    const end = begin + length;
    if ((tag & 0x1f) === 0x1f || !(end <= bytes.length)) throw new RangeError('This is not DER.');
    yield { tag, content: bytes.subarray(begin, end), whole: bytes.subarray(at, end) };
    at = end;
  }
}

/** Milliseconds since 1970 of a time as RFC 5280 has it, to the second and in UTC; undefined for another value. */
export function timeOf({ tag, content }: DerValue): number | undefined {
  if (tag !== TAG.utcTime && tag !== TAG.generalizedTime) return undefined;
  const text = Buffer.from(content).toString('latin1');
  const century = Number(text.slice(0, 2)) < 50 ? '20' : '19';
  const digits = tag === TAG.utcTime ? century + text : text;
  const [, ...parts] = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/.exec(digits) ?? [];
  if (parts.length === 0) return undefined;
  const [year, month, ...rest] = parts.map(Number);
  return Date.UTC(year!, month! - 1, ...rest);
}
