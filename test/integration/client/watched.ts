/** Notes every answer that comes over the wire. */
export function watched(): { statuses: (number | 'none')[]; fetch: (request: Request) => Promise<Response> } {
  const statuses: (number | 'none')[] = [];
  return {
    statuses,
    async fetch(request) {
      const response = await fetch(request).catch((error: unknown) => {
        statuses.push('none');
        throw error;
      });
      statuses.push(response.status);
      return response;
    },
  };
}
