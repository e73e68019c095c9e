import { eventually } from '../../support/eventually.ts';
import { type Site, startSite } from './support.ts';

/** A site of images, by which a test knows that documents are in their pages: each of them asks for one. */
export interface ImageSite extends Site {
  /** Resolves when so many images have been asked for, by this path if one is given. */
  asked(count: number, path?: string): Promise<void>;
  /** Answers those who ask for `HELD`, who wait until then. */
  letGo(): void;
}

/** A document that shows the image of this path, or of one below it, is in its page until it is let go. */
export const HELD = '/held';

const SVG = '<svg xmlns="http://www.w3.org/2000/svg"/>';

/** Any other path is answered at once. */
export async function startImageSite(): Promise<ImageSite> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const site = await startSite((request, response) => {
    const reply = () => response.writeHead(200, { 'Content-Type': 'image/svg+xml' }).end(SVG);
    if (request.url!.startsWith(HELD)) void promise.then(reply);
    else reply();
  });
  return {
    ...site,
    letGo: resolve,
    asked: (count, path) =>
      eventually(
        `${count} documents have asked for ${path ?? 'an image'}`,
        () => site.requests.filter((request) => (path ?? request.path) === request.path).length === count,
      ),
  };
}
