/** What a render and a batch may be. */
export const STATUSES = ['queued', 'processing', 'completed', 'failed', 'cancelled'] as const;

/** What a render is made from. */
export const SOURCES = { html: 'HTML', url: 'Web page', template: 'Template', pdf: 'PDF' } as const;
