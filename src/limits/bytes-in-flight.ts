import { PlatenError } from '../errors/registry.ts';

const RETRY_AFTER_S = 1;

export interface BytesInFlightBounds {
  /** Bytes of all bodies together. */
  readonly total: number;
  /** Bytes of the bodies of one owner; at least those of the largest body there may be. */
  readonly perOwner: number;
}

/** What is thrown past the bounds. */
export interface BytesRefusals {
  readonly ofOwner: () => PlatenError;
  readonly ofAll: () => PlatenError;
}

const UPLOADS: BytesRefusals = {
  ofOwner: () => new PlatenError('TOO_MANY_UPLOADS', undefined, { retryAfterSeconds: RETRY_AFTER_S }),
  ofAll: () =>
    new PlatenError('UNAVAILABLE', 'The service is taking in as much as it can.', {
      retryAfterSeconds: RETRY_AFTER_S,
    }),
};

/** What one request body takes of the bounds. */
export interface BodyShare {
  /** More of it has come than was reserved. @throws as `BytesInFlight.begin`. */
  grow(bytes: number): void;
  /** It is here in whole: it is not ended any more for the sake of others. */
  arrived(): void;
  /** It is needed no more. Calling it again changes nothing. */
  release(): void;
}

interface Body {
  bytes: number;
  /** Tells whoever receives it that it is to end; absent once it is here in whole. */
  end?: ((error: PlatenError) => void) | undefined;
}

interface Owner {
  bytes: number;
  readonly bodies: Set<Body>;
}

/**
 * Bounds the bytes of request bodies that are held at a time: what is announced counts from the beginning, so that
 * whoever is let in can be read to the end. When the total is used up, a body of somebody who holds less goes before one
 * of the owner who holds most and still sends: nobody is kept out by the larger uploads of others. Other bytes are
 * bounded in the same way, with refusals of their own: see src/http/unread-answers.ts.
 */
export class BytesInFlight {
  readonly #bounds: BytesInFlightBounds;
  readonly #owners = new Map<string, Owner>();
  readonly #refusals: BytesRefusals;
  #total = 0;

  constructor(bounds: BytesInFlightBounds, refusals = UPLOADS) {
    this.#bounds = bounds;
    this.#refusals = refusals;
  }

  /** Bytes that are held at the moment. */
  get total(): number {
    return this.#total;
  }

  /**
   * Begins to take in a body.
   *
   * @param ownerId whose body it is: an account, or the network of somebody unknown.
   * @param bytes those that are announced; 0 when that is not known.
   * @param end called when the body has to go for the sake of others; its bytes are given back by then.
   * @throws PlatenError TOO_MANY_UPLOADS past the owner's bound, UNAVAILABLE past the total, unless there are other refusals.
   */
  begin(ownerId: string, bytes: number, end: (error: PlatenError) => void): BodyShare {
    const owner = this.#owners.get(ownerId) ?? { bytes: 0, bodies: new Set() };
    const body: Body = { bytes: 0, end };
    this.#owners.set(ownerId, owner);
    owner.bodies.add(body);
    const release = () => this.#release(ownerId, body);
    const grow = (more: number) => {
      try {
        this.#take(owner, body, more);
      } catch (error) {
        release();
        throw error;
      }
    };
    grow(bytes);
    return {
      grow,
      arrived() {
        body.end = undefined;
      },
      release,
    };
  }

  #take(owner: Owner, body: Body, bytes: number): void {
    const { total, perOwner } = this.#bounds;
    if (owner.bytes + bytes > perOwner) throw this.#refusals.ofOwner();
    while (this.#total + bytes > total) {
      if (!this.#endOneOfMoreThan(owner.bytes + bytes)) throw this.#refusals.ofAll();
    }
    owner.bytes += bytes;
    body.bytes += bytes;
    this.#total += bytes;
  }

  /** Ends an upload of the owner who holds most, if that is more than so many bytes. @returns whether there was one. */
  #endOneOfMoreThan(bytes: number): boolean {
    let most: { ownerId: string; body: Body } | undefined;
    let mostBytes = bytes;
    for (const [ownerId, owner] of this.#owners) {
      if (owner.bytes <= mostBytes) continue;
      const body = [...owner.bodies].find(({ end }) => end !== undefined);
      if (body === undefined) continue;
      most = { ownerId, body };
      mostBytes = owner.bytes;
    }
    if (most === undefined) return false;
    const { ownerId, body } = most;
    this.#release(ownerId, body);
    body.end?.(this.#refusals.ofAll());
    return true;
  }

  #release(ownerId: string, body: Body): void {
    const owner = this.#owners.get(ownerId);
    if (owner === undefined || !owner.bodies.delete(body)) return;
    owner.bytes -= body.bytes;
    this.#total -= body.bytes;
    if (owner.bodies.size === 0) this.#owners.delete(ownerId);
  }
}
