import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createPdfFinisher } from '../../../src/render/pdf/finish.ts';
import { openSeal } from '../../../src/render/seal/placeholder.ts';
import type { ValidationData } from '../../../src/render/seal/revocation/gather.ts';
import { createKeySigner } from '../../../src/render/seal/signer.ts';
import { HUNG_MS } from '../../support/eventually.ts';
import { hasPdfsig, pdfsigVerdicts } from '../../support/pdfsig.ts';
import { sharedSealKeys } from '../../support/seal-keys.ts';
import { Signatures } from '../../support/signatures.ts';

/** Fills the places that PDFs have for a seal, as a worker does, and asks pyHanko and pdfsig about what comes of it. */
export class Sealer {
  /** The option of a render whose PDF is to be sealed. */
  static readonly OPTION = { key: { keyId: 'invoices' }, reason: 'Ünder (a)' } as const;
  /** The same, drawn on the last page. */
  static readonly VISIBLE = {
    ...Sealer.OPTION,
    visible: {
      page: -1,
      name: 'Ada Łovelace 漢字',
      rect: { left: '20mm', top: '20mm', width: '60mm', height: '20mm' },
    },
  } as const;
  readonly #authority: string;
  readonly #signer: ReturnType<typeof createKeySigner>;
  readonly #finisher = createPdfFinisher({ processes: 1 });
  readonly #judge = new Signatures();

  static async open(): Promise<Sealer> {
    return new Sealer(await sharedSealKeys());
  }

  private constructor({ folder, authority }: Awaited<ReturnType<typeof sharedSealKeys>>) {
    this.#authority = authority;
    this.#signer = createKeySigner({ folder, logger: { warn: assert.fail } });
  }

  /** @param bytes are changed. @param name of the document, for a failure. @returns it with what proves the seal later. */
  async seal(bytes: Uint8Array, name: string): Promise<Uint8Array> {
    const open = openSeal(bytes);
    const { signal } = new AbortController();
    const { cms } = await this.#signer.sign('invoices', open.digest, {
      account: 'a',
      withinMs: HUNG_MS,
      signal,
    });
    open.close(cms);
    const [verdict] = await this.#judge.verdicts(bytes, this.#authority);
    assert.deepEqual([verdict?.good, verdict?.coverage], [true, 'ENTIRE_FILE'], name);
    if (hasPdfsig) {
      const [seen] = await pdfsigVerdicts(bytes, this.#authority);
      assert.deepEqual([seen?.signature, seen?.total], ['Signature is Valid.', true], name);
    }
    const { raw } = new X509Certificate(await readFile(this.#authority));
    const argument: ValidationData = { certificates: [raw], ocsps: [], crls: [] };
    const { pdf } = await this.#finisher.finish(bytes, { steps: [{ step: 'validation', argument }] });
    return pdf;
  }

  async close(): Promise<void> {
    this.#judge.close();
    await Promise.all([this.#signer.close(), this.#finisher.close()]);
  }
}
