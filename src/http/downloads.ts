import { OpenStreams } from '../limits/open-streams.ts';
import type { FileBody } from './route.ts';

/** The files that are sent at a time: a reader may take as long as it likes, and each keeps a piece of its file in memory. */
export interface Downloads {
  /** PDFs that are fetched with an API key. */
  readonly pdfs: OpenStreams;
  /** PDFs that callers have waited for. */
  readonly results: OpenStreams;
  /** PDFs that are fetched by a signed address: anybody may who has it. */
  readonly linked: OpenStreams;
  /** The same by account and network, so that one of those who have an address leaves room for the others. */
  readonly linkedByNetwork: OpenStreams;
  readonly zips: OpenStreams;
  /** Each has a document in memory, and has documents parsed. */
  readonly merged: OpenStreams;
  /** Anybody may ask for them who has their address. */
  readonly manifests: OpenStreams;
}

export function createDownloads(): Downloads {
  return {
    pdfs: new OpenStreams({ perAccount: 32, inAll: 256, what: 'PDFs' }),
    results: new OpenStreams({ perAccount: 128, inAll: 512, what: 'PDFs' }),
    linked: new OpenStreams({ perAccount: 32, inAll: 256, what: 'downloads by signed addresses' }),
    linkedByNetwork: new OpenStreams({
      perAccount: 16,
      inAll: 256,
      what: 'downloads by signed addresses from this network',
    }),
    zips: new OpenStreams({ perAccount: 8, inAll: 256, what: 'zips' }),
    merged: new OpenStreams({ perAccount: 2, inAll: 64, what: 'merged PDFs' }),
    manifests: new OpenStreams({ perAccount: 8, inAll: 256, what: 'manifests' }),
  };
}

/**
 * Has a place among the downloads of its kind from before what is sent is looked for until its reader has it.
 *
 * @throws PlatenError as `OpenStreams.take` does; what `answer` does.
 */
export async function withPlace<A extends { readonly body: FileBody }>(
  downloads: OpenStreams,
  accountId: string,
  answer: () => Promise<A>,
): Promise<A> {
  const place = downloads.take(accountId);
  try {
    const answered = await answer();
    const { body } = answered;
    place.hold(body.stream);
    return { ...answered, body: { ...body, places: [...(body.places ?? []), place] } };
  } catch (error) {
    place.release();
    throw error;
  }
}
