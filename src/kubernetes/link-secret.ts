import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { parse } from 'yaml';
import { z } from 'zod';
import type { Logger } from '../telemetry/logger.ts';
import type { Kind, KubeObject } from './client/kube-object.ts';
import type { KubernetesApi } from './client/kubernetes-api.ts';
import { isConflict } from './client/kubernetes-error.ts';
import { FIELD_MANAGER } from './pools/names.ts';

/** Where the key stands in the Secret. */
const KEY = 'secret';
const KEY_BYTES = 36;
/** How soon one that was deleted is there again, before the next API process needs it. */
const LOOK_EVERY_MS = 60_000;

type Secret = KubeObject<{ readonly type: string; readonly data: Readonly<Record<string, string>> }>;
const SECRETS: Kind<Secret> = { group: '', version: 'v1', plural: 'secrets', kind: 'Secret' };

const manifestSchema = z.looseObject({
  apiVersion: z.literal('v1'),
  kind: z.literal('Secret'),
  metadata: z.looseObject({ name: z.string().min(1), namespace: z.string().min(1) }),
});
type Manifest = z.infer<typeof manifestSchema>;

interface Parts {
  readonly api: KubernetesApi;
  readonly logger: Pick<Logger, 'info' | 'warn'>;
}

/** @param text YAML of a Secret without its data. @throws an error that names each fault. */
export function parseLinkSecret(text: string): Manifest {
  const parsed = manifestSchema.safeParse(parse(text, { version: '1.1' }));
  if (parsed.success) return parsed.data;
  const faults = parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
  throw new Error(`the Secret of the links is not valid: ${faults.join('; ')}`);
}

/**
 * Makes the Secret that download links are signed by, with a key of its own, wherever there is none of the name. One that is
 * there is neither read nor changed, so that this needs the right to make Secrets and no other.
 *
 * @throws KubernetesError when the API server is away or refuses.
 */
export async function makeLinkSecret(manifest: Manifest, { api, logger }: Parts): Promise<void> {
  const key = randomBytes(KEY_BYTES).toString('base64url');
  const data = { [KEY]: Buffer.from(key).toString('base64') };
  try {
    await api.create(SECRETS, { ...manifest, type: 'Opaque', data }, { fieldManager: FIELD_MANAGER });
    logger.info({ secret: manifest.metadata.name }, 'a key to sign download links by was made');
  } catch (error) {
    if (!isConflict(error)) throw error;
  }
}

/** Makes it at once, and again whenever it is gone, until the signal aborts: without it no API process starts. */
export async function keepLinkSecret(manifest: Manifest, parts: Parts, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await makeLinkSecret(manifest, parts).catch((error: unknown) => {
      const { name } = manifest.metadata;
      parts.logger.warn(
        { err: error, secret: name },
        `the Secret ${name} could not be made, and is tried again; no API process starts without it`,
      );
    });
    await sleep(LOOK_EVERY_MS, undefined, { signal }).catch(() => undefined);
  }
}
