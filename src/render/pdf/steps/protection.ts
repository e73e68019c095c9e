import { randomBytes } from 'node:crypto';
import { PDF } from '@libpdf/core';
import type { Protection } from '../protection.ts';

/** Nobody knows the owner's password of a PDF for which none is given. */
const UNKNOWN_BYTES = 32;
/** The first version that has this encryption (ISO 32000-2, 7.6.4). */
const VERSION = '2.0';

/** Encrypts every text and every stream of a PDF, that of its metadata too. */
export async function changeFile(file: Uint8Array, protection: Protection): Promise<Uint8Array> {
  const { userPassword, ownerPassword = randomBytes(UNKNOWN_BYTES).toString('base64url') } = protection;
  const { print = 'high', ...others } = protection.permissions ?? {};
  const given = Object.entries(others).filter(([, allowed]) => allowed !== undefined);
  const pdf = await PDF.load(file);
  pdf.upgradeVersion(VERSION);
  pdf.setProtection({
    ...(userPassword !== undefined && { userPassword }),
    ownerPassword,
    permissions: {
      ...Object.fromEntries(given),
      print: print !== 'none',
      printHighQuality: print === 'high',
    },
    algorithm: 'AES-256',
  });
  return await pdf.save({ compressStreams: false });
}
