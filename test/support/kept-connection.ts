import { type Agent, get, type IncomingMessage } from 'node:http';

/**
 * Asks through `agent`, which says whether the connection is kept (fetch does not), and reads the answer to its end.
 *
 * @param agent false for a connection of its own.
 */
export function askThrough(agent: Agent | false, url: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    get(url, { agent }, (response) => {
      response.resume().once('end', () => resolve(response));
    }).once('error', reject);
  });
}
