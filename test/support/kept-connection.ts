import { type Agent, get, type IncomingMessage } from 'node:http';

/**
 * Sends a request through `agent`, which decides whether the connection is kept (fetch does not), and reads the
 * response to its end.
 *
 * @param agent false for a separate connection.
 */
export function askThrough(agent: Agent | false, url: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    get(url, { agent }, (response) => {
      response.resume().once('end', () => resolve(response));
    }).once('error', reject);
  });
}
