import { OpenStreams, type StreamPlace } from '../limits/open-streams.ts';

/** What is sent at a time of files that are made of whole batches. */
export interface BatchDownloads {
  readonly zips: OpenStreams;
  /** Each has a document in memory, and has documents parsed. */
  readonly merged: OpenStreams;
  /** Anybody may ask for them who has their address, as often as they like. */
  readonly manifests: OpenStreams;
}

export function createBatchDownloads(): BatchDownloads {
  return {
    zips: new OpenStreams({ perAccount: 8, inAll: 256, what: 'zips' }),
    merged: new OpenStreams({ perAccount: 2, inAll: 64, what: 'merged PDFs' }),
    manifests: new OpenStreams({ perAccount: 8, inAll: 256, what: 'manifests' }),
  };
}

/**
 * Has a place among the downloads of its kind from before what is sent is looked for until that is sent.
 *
 * @param answer gives the place to the stream that it answers with.
 * @throws PlatenError as `OpenStreams.take` does; what `answer` does.
 */
export async function withPlace<T>(
  downloads: OpenStreams,
  accountId: string,
  answer: (place: StreamPlace) => Promise<T>,
): Promise<T> {
  const place = downloads.take(accountId);
  try {
    return await answer(place);
  } catch (error) {
    place.release();
    throw error;
  }
}
