import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** Poppler's pdfsig with NSS, as `make pdfsig` unpacks them. */
const ROOT = fileURLToPath(new URL('../../.cache/pdfsig/root', import.meta.url));
/** NSS finds its own parts beside itself alone. */
const env = { ...process.env, LC_ALL: 'C', LD_LIBRARY_PATH: join(ROOT, 'usr/lib/x86_64-linux-gnu') };

const run = promisify(execFile);
const program = (name: string) => join(ROOT, 'usr/bin', name);

/** Whether pdfsig can judge here: it is unpacked where there is Debian. */
export const hasPdfsig = existsSync(program('pdfsig'));

/** What pdfsig says of a signature: of the bytes, of the certificate when the bytes are right, and of what is signed. */
export interface PdfsigVerdict {
  readonly field: string;
  readonly signature: string;
  readonly certificate: string | undefined;
  /** Whether all of the file is signed. */
  readonly total: boolean;
}

/** @param authority the file of the certificate that is trusted. @throws when the PDF has no signature. */
export async function pdfsigVerdicts(pdf: Uint8Array, authority: string): Promise<readonly PdfsigVerdict[]> {
  const folder = await mkdtemp(join(tmpdir(), 'platen-pdfsig-'));
  try {
    const [file, certificate] = [join(folder, 'sealed.pdf'), join(folder, 'authority.pem')];
    await writeFile(file, pdf);
    await copyFile(authority, certificate);
    const trusted = `sql:${folder}`;
    await run(program('certutil'), ['-N', '-d', trusted, '--empty-password'], { env });
    const add = ['-A', '-d', trusted, '-n', 'authority', '-t', 'CT,C,C', '-i', certificate];
    await run(program('certutil'), add, { env });
    const { stdout } = await run(program('pdfsig'), ['-nssdir', trusted, file], { env });
    const [, ...signatures] = stdout.split(/^Signature #\d+:$/m);
    return signatures.map((text) => {
      const said = (label: string) => new RegExp(`^ +- ${label}: (.*)$`, 'm').exec(text)?.[1];
      return {
        field: said('Signature Field Name') ?? '',
        signature: said('Signature Validation') ?? '',
        certificate: said('Certificate Validation'),
        total: text.includes('Total document signed'),
      };
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
