import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { PlatenError } from '../../../src/infra/errors/registry.ts';
import { eventually } from '../../support/eventually.ts';
import { openssl, opensslVerifies, SealKeys } from '../../support/seal-keys.ts';
import { JOB, openRig, type Rig } from './support.ts';

/** SoftHSM and OpenSC, as `make softhsm` unpacks them. */
const ROOT = fileURLToPath(new URL('../../../.cache/softhsm/root', import.meta.url));
const MODULE = join(ROOT, 'usr/lib/softhsm/libsofthsm2.so');
const run = promisify(execFile);
/** Of the keys in the module. */
const IDS: Readonly<Record<string, string>> = { ec: '01', rsa: 'a0b1' };

describe('A seal by a key in a hardware module', () => {
  let keys: SealKeys;
  let rig: Rig;
  let environment: Record<string, string>;

  before(async function () {
    // Both come from Debian, which not every machine has.
    if (!existsSync(MODULE)) this.skip();
    keys = await SealKeys.make();
    const tokens = join(keys.folder, 'tokens');
    await mkdir(tokens);
    await writeFile(join(keys.folder, 'softhsm2.conf'), `directories.tokendir = ${tokens}\n`);
    const libraries = ['usr/lib/x86_64-linux-gnu', 'usr/lib/aarch64-linux-gnu'].map((lib) => join(ROOT, lib));
    environment = {
      SOFTHSM2_CONF: join(keys.folder, 'softhsm2.conf'),
      LD_LIBRARY_PATH: libraries.join(':'),
    };
    const pins = ['--label', 'seals', '--pin', '12 34', '--so-pin', '5678'];
    await program('softhsm2-util', '--module', MODULE, '--init-token', '--free', ...pins);
    await add('ec', { algorithm: ['-algorithm', 'EC', '-pkeyopt', 'ec_paramgen_curve:P-256'] });
    await add('rsa', { algorithm: ['-algorithm', 'RSA', '-pkeyopt', 'rsa_keygen_bits:2048'] });
    await write('unlocked', { key: IDS.ec }, { of: 'ec', pin: 'wrong' });
    const stranger = await keys.identity('Stranger');
    await openssl('x509', '-in', stranger.cert, '-out', join(keys.folder, 'stranger.pem'));
    await write('others', { key: IDS.ec }, { of: 'stranger' });
    await write('toolless', { key: IDS.ec, tool: '/nowhere/pkcs11-tool' }, { of: 'ec' });
    await write('moduleless', { key: IDS.ec, module: '/nowhere.so' }, { of: 'ec' });
    await write('keyless', { key: 'invoices' }, { of: 'ec' });
    await write('absent', { key: 'ffff' }, { of: 'ec' });
    rig = openRig(keys.folder);
  });
  after(async () => {
    await rig?.close();
    await keys?.close();
  });

  const program = (name: string, ...args: string[]) =>
    run(join(ROOT, 'usr/bin', name), args, { env: environment });

  /** A key that is made by openssl, with its certificate, and put into the module. */
  async function add(keyId: string, { algorithm }: { algorithm: readonly string[] }): Promise<void> {
    const { cert, key } = await keys.identity(`Module ${keyId}`, { algorithm });
    const der = `${key}.der`;
    await openssl('pkey', '-in', key, '-outform', 'DER', '-out', der);
    const where = ['--module', MODULE, '--token-label', 'seals', '--login', '--pin', '12 34'];
    await program('pkcs11-tool', ...where, '--write-object', der, '--type', 'privkey', '--id', IDS[keyId]!);
    await openssl('x509', '-in', cert, '-out', join(keys.folder, `${keyId}.pem`));
    await write(keyId, { key: IDS[keyId] }, { of: keyId });
  }

  async function write(
    keyId: string,
    given: object,
    { of, pin = '12 34' }: { of: string; pin?: string },
  ): Promise<void> {
    const file = (ending: string) => join(keys.folder, keyId + ending);
    const tool = join(ROOT, 'usr/bin/pkcs11-tool');
    await writeFile(
      file('.pkcs11'),
      JSON.stringify({ module: MODULE, token: 'seals', tool, environment, ...given }),
    );
    await writeFile(file('.password'), `${pin}\n`);
    await writeFile(file('.accounts'), '*');
    if (of !== keyId) await openssl('x509', '-in', join(keys.folder, `${of}.pem`), '-out', file('.pem'));
  }

  const terms = (keyId: string) => ({
    seal: { key: { keyId } },
    job: JOB,
    deadline: Date.now() + 20_000,
    signal: new AbortController().signal,
  });

  for (const keyId of ['ec', 'rsa'])
    it(`is valid for openssl: ${keyId}`, async () => {
      const { pdf, facts } = await rig.sealer.seal(await rig.place(), terms(keyId));
      assert.equal(facts.subject, `CN=Module ${keyId}`);
      await opensslVerifies(pdf, keys.authority);
    });

  it('fails where it cannot be used, with the reason in the log, and without the PIN', async () => {
    const reasons: Record<string, RegExp> = {
      unlocked: /unlocked\.pkcs11 is not used by .*CKR_PIN_INCORRECT/,
      others: /is not by the key of its certificate/,
      toolless: /there is no such program, which the package opensc has/,
      moduleless: /is not used by .*cannot open shared object/,
      absent: /absent\.pkcs11 is not used by .*not found/,
      keyless: /keyless\.pkcs11 is not .*must be the id of a key in hexadecimal digits/,
    };
    for (const [keyId, reason] of Object.entries(reasons)) {
      const error = await rig.sealer.seal(await rig.place(), terms(keyId)).catch((thrown: unknown) => thrown);
      assert.ok(error instanceof PlatenError);
      assert.deepEqual([error.code, error.permanent], ['SEAL_FAILED', true]);
      assert.match(error.message, /cannot be used at present: the operator/);
      assert.match(rig.logged.at(-1) ?? '', reason);
    }
    assert.doesNotMatch(rig.logged.join(), /12 34|wrong/);
  });

  it('is told of at the start where its program or its module is missing', async () => {
    const other = openRig(keys.folder);
    await eventually('it has said so', () => other.logged.length >= 3);
    const told = other.logged.map((line) => JSON.parse(line).keyId);
    assert.deepEqual(told.toSorted(), ['keyless', 'moduleless', 'toolless']);
    await other.close();
  });
});
