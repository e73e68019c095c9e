/**
 * Bounds what kafkajs decompresses. Version 2.2.4 decompresses whatever a batch of messages holds, so that whoever may
 * write to a topic could fill the memory of every process that reads it: a megabyte of gzip may hold a gigabyte. It also
 * tries again for ever what it cannot decompress. Platen compresses nothing; brokers may, where a topic says so.
 */
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import kafkajs from 'kafkajs';

// Node finds no names of these among what kafkajs exports.
const { CompressionCodecs, CompressionTypes } = kafkajs;

/** Twice what a broker takes as one batch by default. */
const MAX_BATCH_BYTES = 2 * 1024 * 1024;

/** A batch that is not decompressed. kafkajs gives the consumer up because of it, instead of fetching it once more. */
export class UnreadableBatch extends Error {
  /** As kafkajs asks of errors. */
  readonly retriable = false;

  constructor(reason: string) {
    super(`a batch of messages cannot be read: ${reason}`);
    this.name = 'UnreadableBatch';
  }
}

/** Whether this is why a consumer has ended: kafkajs wraps errors in others. */
export function isUnreadableBatch(error: unknown): boolean {
  if (error instanceof UnreadableBatch) return true;
  return error instanceof Error && error.cause !== undefined && isUnreadableBatch(error.cause);
}

const boundedGzip = {
  compress: (encoder: { readonly buffer: Buffer }): Promise<Buffer> => promisify(gzip)(encoder.buffer),
  async decompress(bytes: Buffer): Promise<Buffer> {
    try {
      return await promisify(gunzip)(bytes, { maxOutputLength: MAX_BATCH_BYTES });
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      const tooLarge = code === 'ERR_BUFFER_TOO_LARGE';
      throw new UnreadableBatch(
        tooLarge ? `it has more than ${MAX_BATCH_BYTES} bytes` : `it is no gzip (${code})`,
      );
    }
  },
};

CompressionCodecs[CompressionTypes.GZIP] = () => boundedGzip;
for (const type of [CompressionTypes.Snappy, CompressionTypes.LZ4, CompressionTypes.ZSTD] as const) {
  CompressionCodecs[type] = () => {
    throw new UnreadableBatch(`it is compressed with ${CompressionTypes[type]}`);
  };
}
