import type { Readable } from 'node:stream';
import { openStreams, reserveStream, type StreamReservation } from './open-streams.ts';
import type { Reservations } from './reservations.ts';

/** Concurrent downloads: a reader may take as long as it likes, and each keeps a chunk of its file in memory. */
export function createDownloads() {
  return {
    pdfs: openStreams({ perOwner: 32, inAll: 256 }, 'PDFs'),
    /** PDFs that are sent in response to a render request. */
    results: openStreams({ perOwner: 128, inAll: 512 }, 'PDFs'),
    /** PDFs that are fetched by a signed address, without a credential. */
    linked: openStreams({ perOwner: 32, inAll: 256 }, 'downloads by signed addresses'),
    /** The same by account and network, so that one network cannot take all downloads of an account. */
    linkedByNetwork: openStreams(
      { perOwner: 16, inAll: 256 },
      'downloads by signed addresses from this network',
    ),
    zips: openStreams({ perOwner: 8, inAll: 256 }, 'zips'),
    /** Each has a document in memory, and documents parsed in a sandbox process. */
    merged: openStreams({ perOwner: 2, inAll: 64 }, 'merged PDFs'),
    /** Manifests that are fetched by a signed address, without a credential. */
    manifests: openStreams({ perOwner: 8, inAll: 256 }, 'manifests'),
  };
}

export type Downloads = ReturnType<typeof createDownloads>;

/** A file that is sent as it is read. */
interface SentFile {
  readonly stream: Readable;
  /** Held by the stream, and then by the response, until the caller has received the whole file. */
  readonly reservations?: readonly StreamReservation[];
}

/** Reserves until the caller has received it. @throws PlatenError as `reserveStream` does; what `respond` does. */
export async function withDownload<R extends { readonly body: SentFile }>(
  downloads: Reservations,
  ownerId: string,
  respond: () => Promise<R>,
): Promise<R> {
  const reservation = reserveStream(downloads, ownerId);
  try {
    const response = await respond();
    const { body } = response;
    reservation.hold(body.stream);
    return { ...response, body: { ...body, reservations: [...(body.reservations ?? []), reservation] } };
  } catch (error) {
    reservation.release();
    throw error;
  }
}
