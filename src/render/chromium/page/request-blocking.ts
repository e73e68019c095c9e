import type { Protocol } from 'puppeteer';
import type { BlockedRequests } from '../../options/core/option.ts';
import { asFetchPattern, matchesPattern } from './url-pattern.ts';

/** The patterns by which Chromium pauses the requests that may have to be blocked, and no others. */
export function blockingPatterns({
  urls = [],
  kinds = [],
}: BlockedRequests = {}): Protocol.Fetch.RequestPattern[] {
  return [
    ...urls.map((url) => ({ urlPattern: asFetchPattern(url), requestStage: 'Request' as const })),
    ...kinds.map((resourceType) => ({ urlPattern: '*', resourceType, requestStage: 'Request' as const })),
  ];
}

/** Whether a paused request is one of those to block, by its URL or its kind. */
export function isBlocked(
  { request, resourceType }: Protocol.Fetch.RequestPausedEvent,
  { urls = [], kinds = [] }: BlockedRequests = {},
): boolean {
  return kinds.includes(resourceType) || urls.some((pattern) => matchesPattern(request.url, pattern));
}
