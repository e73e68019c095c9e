import type { Readable } from 'node:stream';
import { openStreams, reserveStream, type StreamReservation } from './open-streams.ts';
import type { Reservations } from './reservations.ts';

/** Concurrent downloads: a reader may take as long as it likes, and each keeps a chunk of its file in memory. */
export interface Downloads {
  /** PDFs that are fetched with an API key. */
  readonly pdfs: Reservations;
  /** PDFs that are sent in response to a render request. */
  readonly results: Reservations;
  /** PDFs that are fetched by a signed address, without a credential. */
  readonly linked: Reservations;
  /** The same by account and network, so that one network cannot take all downloads of an account. */
  readonly linkedByNetwork: Reservations;
  readonly zips: Reservations;
  /** Each has a document in memory, and documents parsed in a sandbox process. */
  readonly merged: Reservations;
  /** Manifests that are fetched by a signed address, without a credential. */
  readonly manifests: Reservations;
}

export function createDownloads(): Downloads {
  return {
    pdfs: openStreams({ perOwner: 32, inAll: 256 }, 'PDFs'),
    results: openStreams({ perOwner: 128, inAll: 512 }, 'PDFs'),
    linked: openStreams({ perOwner: 32, inAll: 256 }, 'downloads by signed addresses'),
    linkedByNetwork: openStreams(
      { perOwner: 16, inAll: 256 },
      'downloads by signed addresses from this network',
    ),
    zips: openStreams({ perOwner: 8, inAll: 256 }, 'zips'),
    merged: openStreams({ perOwner: 2, inAll: 64 }, 'merged PDFs'),
    manifests: openStreams({ perOwner: 8, inAll: 256 }, 'manifests'),
  };
}

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
