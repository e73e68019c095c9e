/** What a render and a batch may be. */
export const STATUSES = ['queued', 'processing', 'completed', 'failed', 'cancelled'] as const;
