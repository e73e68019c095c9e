import { createHash } from 'node:crypto';
import { PDFDict, type PDFDocument, PDFHexString } from '@cantoo/pdf-lib';
import { readCms } from '../../seal/read-cms.ts';
import { KEYS, listOf, name, numberOf } from '../objects.ts';

const PADES = 'ETSI.CAdES.detached';
const MAX_SIGNATURES = 20;

/** A signature of a PDF, as far as it is looked at. */
export interface FoundSignature {
  /** Its kind, such as `ETSI.CAdES.detached`. */
  readonly subFilter: string;
  /** Whether it is of all bytes of the file, so that nothing was added after it. */
  readonly coversWholeFile: boolean;
  /** The subject of the certificate that has signed; null where it could not be read. */
  readonly subject: string | null;
  /** What is wrong with it, in words that follow "The signature"; null for nothing, and for what is not looked at. */
  readonly fault: string | null;
  /** Whether its digest and its certificate were looked at: those of PAdES alone are. */
  readonly isChecked: boolean;
}

/** The signatures of a document. Whether anybody trusts their certificates is not asked. */
export function signaturesOf({ context }: PDFDocument, file: Uint8Array, now: number): FoundSignature[] {
  const found: FoundSignature[] = [];
  for (const [, object] of context.enumerateIndirectObjects()) {
    if (!(object instanceof PDFDict)) continue;
    const value = object.has(name('ByteRange')) ? object : fieldValue(object);
    if (value === undefined || found.length >= MAX_SIGNATURES) continue;
    found.push(readSignature(value, file, now));
  }
  return found;
}

/** The value of a field that is not an object of its own. */
function fieldValue(field: PDFDict): PDFDict | undefined {
  const value = field.get(name('V'));
  return value instanceof PDFDict && value.has(name('ByteRange')) ? value : undefined;
}

function readSignature(value: PDFDict, file: Uint8Array, now: number): FoundSignature {
  const subFilter = String(value.get(name('SubFilter')) ?? '').slice(1, 100);
  const numbers = listOf(value.lookup(name('ByteRange'))).map((each) => numberOf(each) ?? -1);
  const [from = -1, length = -1, second = -1, rest = -1] = numbers;
  const isRange =
    numbers.length === 4 &&
    from === 0 &&
    length > 0 &&
    second > length &&
    rest >= 0 &&
    second + rest <= file.length;
  const plain = { subFilter, coversWholeFile: isRange && second + rest === file.length, subject: null };
  if (!isRange) return { ...plain, fault: 'says wrongly which bytes it is of', isChecked: true };
  const contents = value.lookup(KEYS.Contents);
  if (subFilter !== PADES || !(contents instanceof PDFHexString))
    return { ...plain, fault: null, isChecked: false };
  const hash = createHash('sha256').update(file.subarray(0, length));
  const digest = hash.update(file.subarray(second, second + rest)).digest();
  const read = readCms({ cms: withoutPadding(contents.asBytes()), digest, now });
  if ('fault' in read) return { ...plain, fault: read.fault, isChecked: true };
  const subject = 'signatory' in read ? read.signatory.subject : null;
  return { ...plain, subject, fault: null, isChecked: true };
}

/** A CMS as long as it says that it is (X.690, 8.1.3): zeros fill up its place. */
function withoutPadding(bytes: Uint8Array): Uint8Array {
  const first = bytes[1] ?? 0;
  if (first < 0x80) return bytes.subarray(0, 2 + first);
  const digits = first & 0x7f;
  let length = 0;
  for (let i = 0; i < digits && i < 4; i += 1) length = length * 256 + (bytes[2 + i] ?? 0);
  return bytes.subarray(0, 2 + digits + length);
}
