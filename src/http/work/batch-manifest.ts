import { contentDisposition } from '../../infra/outputs/file-name.ts';
import { withDownload } from '../../infra/overload/downloads.ts';
import type { BatchOwner } from '../../work/batches/batch-service.ts';
import { manifestStream } from '../../work/batches/manifest.ts';
import type { ApiDeps } from '../api-deps.ts';

/** The responses of a route that sends the manifest of a batch. */
export const MANIFEST_RESPONSES = {
  200: {
    description: 'JSON: jobId, createdAt and the outcome of each item.',
    contentType: 'application/json',
  },
} as const;

/** The manifest of a batch as a file. @throws PlatenError NOT_FOUND; TOO_MANY_WAITING. */
export async function sendManifest(owner: BatchOwner, batchId: string, deps: ApiDeps) {
  return await withDownload(deps.downloads.manifests, owner.accountId, async () => {
    const batch = await deps.batches.get(owner, batchId);
    const disposition = contentDisposition(`${batch._id}.json`, 'attachment');
    return {
      status: 200,
      body: { stream: manifestStream(batch, deps.batchFiles.items(batch)) },
      headers: { 'Content-Disposition': disposition },
    } as const;
  });
}
