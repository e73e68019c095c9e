import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { parse } from 'yaml';
import { z } from 'zod';
import type { Kind, KubeObject } from '../infra/kube/client/kube-object.ts';
import type { KubernetesApi } from '../infra/kube/client/kubernetes-api.ts';
import { isConflict } from '../infra/kube/kubernetes-error.ts';
import type { Logger } from '../infra/telemetry/logger.ts';
import { FIELD_MANAGER } from './pools/labels.ts';
import { INSTALLATION, type Installation } from './resources/installation.ts';

/** The Secret's field with the key. */
const KEY = 'secret';
const KEY_BYTES = 36;
/** How soon a deleted Secret is made again, in milliseconds: before the next API process needs it. */
const CHECK_EVERY_MS = 60_000;

type Secret = KubeObject<{ readonly type: string; readonly data: Readonly<Record<string, string>> }>;
const SECRETS: Kind<Secret> = { group: '', version: 'v1', plural: 'secrets', kind: 'Secret' };

const manifestSchema = z.looseObject({
  apiVersion: z.literal('v1'),
  kind: z.literal('Secret'),
  metadata: z.looseObject({
    name: z.string().min(1),
    namespace: z.string().min(1),
    annotations: z.record(z.string(), z.string()).optional(),
  }),
});
type Manifest = z.infer<typeof manifestSchema>;

interface Deps {
  readonly api: KubernetesApi;
  readonly installation: Installation;
  readonly logger: Pick<Logger, 'info' | 'warn'>;
}

/** @param text YAML of a Secret without its data. @throws an error that names each problem. */
export function parseLinkSecret(text: string): Manifest {
  const parsed = manifestSchema.safeParse(parse(text, { version: '1.1' }));
  if (parsed.success) return parsed.data;
  const errors = parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
  throw new Error(`the Secret of the links is not valid: ${errors.join('; ')}`);
}

/**
 * Makes the Secret with the key that signs download links, where there is none of its name. An existing one is neither
 * read nor changed, so this needs the right to create Secrets and no other.
 *
 * @throws KubernetesError when the API server is away or rejects the call.
 */
export async function makeLinkSecret(manifest: Manifest, { api, installation, logger }: Deps): Promise<void> {
  const key = randomBytes(KEY_BYTES).toString('base64url');
  const data = { [KEY]: Buffer.from(key).toString('base64') };
  try {
    const annotations = { [INSTALLATION]: installation.id, ...manifest.metadata.annotations };
    const metadata = { ...manifest.metadata, annotations };
    await api.create(
      SECRETS,
      { ...manifest, metadata, type: 'Opaque', data },
      { fieldManager: FIELD_MANAGER },
    );
    logger.info({ secretName: manifest.metadata.name }, 'a key that signs download links was made');
  } catch (error) {
    if (!isConflict(error)) throw error;
  }
}

/** Makes the Secret now and whenever it is gone, until the signal aborts: without it no API process starts. */
export async function keepLinkSecret(manifest: Manifest, deps: Deps, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await makeLinkSecret(manifest, deps).catch((error: unknown) => {
      const { name } = manifest.metadata;
      deps.logger.warn(
        { err: error, secretName: name },
        `the Secret ${name} could not be made, and is tried again; no API process starts without it`,
      );
    });
    await sleep(CHECK_EVERY_MS, undefined, { signal }).catch(() => undefined);
  }
}
