/** The part of kafkajs that `request-queue.ts` changes; its own types leave it out. */
declare module 'kafkajs/src/network/requestQueue/index.js' {
  export default class RequestQueue {
    /** Requests that wait until fewer are under way, or until the broker allows more. */
    readonly pending: readonly unknown[];
    scheduleCheckPendingRequests(): void;
    /** Requests that have been sent, by their correlation id. Times in milliseconds. */
    readonly inflight: ReadonlyMap<
      number,
      { readonly sentAt: number; readonly requestTimeout: number; timeoutRequest(): void }
    >;
    scheduleRequestTimeoutCheck(): void;
    isConnected(): boolean;
  }
}
