import { OpenStreams } from '../limits/open-streams.ts';

/** What is sent at a time of files that are made of whole batches. */
export interface BatchDownloads {
  readonly zips: OpenStreams;
  /** Each has a document in memory, and has documents parsed. */
  readonly merged: OpenStreams;
}

export function createBatchDownloads(): BatchDownloads {
  return {
    zips: new OpenStreams({ perAccount: 8, inAll: 256, what: 'zips' }),
    merged: new OpenStreams({ perAccount: 2, inAll: 64, what: 'merged PDFs' }),
  };
}
