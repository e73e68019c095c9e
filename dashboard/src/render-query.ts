import { api, call } from './api.ts';
import { LIVE } from './live.ts';

export type Render = Awaited<ReturnType<ReturnType<typeof renderQuery>['queryFn']>>;

/** Asks for a render with all that is shown of it. */
export function renderQuery(id: string) {
  return {
    queryKey: [LIVE, 'render', id],
    queryFn: () => call(api.GET('/user/renders/{id}', { params: { path: { id } } })),
  };
}

/** The report of a render; it changes no more. */
export function reportQuery(id: string) {
  return {
    queryKey: ['report', id],
    queryFn: () => call(api.GET('/user/renders/{id}/report', { params: { path: { id } } })),
    staleTime: Number.POSITIVE_INFINITY,
  };
}
