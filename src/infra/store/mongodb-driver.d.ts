/** The part of MongoDB's driver that `connection-pool.ts` changes; its own types leave it out. */
declare module 'mongodb/lib/cmap/connection_pool.js' {
  export class ConnectionPool {
    /** Frozen. */
    options: { readonly minPoolSize: number; readonly minPoolSizeCheckFrequencyMS: number };
    ensureMinPoolSize(): void;
  }
}
