import assert from 'node:assert/strict';
import { openSeal } from '../../../src/render/seal/placeholder.ts';
import { createKeySigner } from '../../../src/render/seal/signer.ts';
import { HUNG_MS } from '../../support/eventually.ts';
import { sharedSealKeys } from '../../support/seal-keys.ts';
import { Signatures } from '../../support/signatures.ts';

/** Fills the places that PDFs have for a seal, as a worker does, and asks pyHanko about what comes of it. */
export class Sealer {
  /** The option of a render whose PDF is to be sealed. */
  static readonly OPTION = { key: { keyId: 'invoices' }, reason: 'Ünder (a)' } as const;
  readonly #authority: string;
  readonly #signer: ReturnType<typeof createKeySigner>;
  readonly #judge = new Signatures();

  static async open(): Promise<Sealer> {
    return new Sealer(await sharedSealKeys());
  }

  private constructor({ folder, authority }: Awaited<ReturnType<typeof sharedSealKeys>>) {
    this.#authority = authority;
    this.#signer = createKeySigner({ folder, logger: { warn: assert.fail } });
  }

  /** Changes `bytes`. @param name of the document, for a failure. */
  async seal(bytes: Uint8Array, name: string): Promise<void> {
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
  }

  async close(): Promise<void> {
    this.#judge.close();
    await this.#signer.close();
  }
}
