import qs from 'qs';
import type { Reply } from './idempotency-keys.ts';
import type { StripeRequest, StripeStandIn } from './stand-in.ts';

/**
 * Compares a stand-in's requests and responses with stripe-mock: Stripe's specification has to know every request that
 * it accepts, and every field of its responses. Requests of one shape are checked once.
 */
export class ShapeCheck {
  readonly disagreements: string[] = [];
  readonly #mockUrl: string;
  readonly #known = new Set<string>();
  readonly #underWay: Promise<void>[] = [];

  constructor(mockUrl: string) {
    this.#mockUrl = mockUrl;
  }

  watch(standIn: StripeStandIn): void {
    standIn.onResponse = (asked, reply) => {
      const shape = shapeOf(asked);
      if (reply.status !== 200 || this.#known.has(shape)) return;
      this.#known.add(shape);
      this.#underWay.push(this.#compare(asked, shape, reply));
    };
  }

  /** The checked shapes, once all checks are done. */
  async settled(): Promise<readonly string[]> {
    await Promise.all(this.#underWay);
    return [...this.#known].sort();
  }

  async #compare(asked: StripeRequest, shape: string, reply: Reply): Promise<void> {
    const response = await ask(this.#mockUrl, asked);
    const theirs: unknown = await response.json();
    if (!response.ok) this.disagreements.push(`${shape}: ${response.status} ${JSON.stringify(theirs)}`);
    else this.disagreements.push(...beyond(reply.body, theirs, shape));
  }
}

/** Sends the stand-in's request to stripe-mock. */
export function ask(
  mockUrl: string,
  { method, path, params }: Pick<StripeRequest, 'method' | 'path' | 'params'>,
) {
  const encoded = qs.stringify(params, { arrayFormat: 'indices' });
  const inQuery = method !== 'POST';
  return fetch(`${mockUrl}${path}${inQuery && encoded !== '' ? `?${encoded}` : ''}`, {
    method,
    headers: {
      authorization: 'Bearer sk_test_123',
      'content-type': 'application/x-www-form-urlencoded',
    },
    ...(!inQuery && { body: encoded }),
  });
}

function shapeOf({ method, route, params }: StripeRequest): string {
  const names = qs
    .stringify(params, { encode: false })
    .split('&')
    .map((pair) => pair.split('=')[0]!.replace(/\[\d+\]/g, '[]'))
    .map((name) => name.replace(/metadata\[.*\]/, 'metadata[]'));
  return `${method} ${route} ${[...new Set(names)].sort().join(' ')}`.trim();
}

/** Fields with free names, and fields that are present only with content. */
const FREE = new Set(['metadata', 'deleted', 'features', 'parent', 'payments', 'subscriptions', 'secret']);
/** Fields of one kind of a thing, of which stripe-mock's example is another; or that its example lacks, being optional. */
const OF_A_KIND = [
  ...[
    ' → payment → payment_intent',
    ' → pricing → price_details',
    ' → phases[] → automatic_tax',
    ' → liability → account',
    ' → issuer → account',
  ],
];

function beyond(ours: unknown, theirs: unknown, path: string): string[] {
  if (Array.isArray(ours) && Array.isArray(theirs)) {
    if (ours.length === 0 || theirs.length === 0) return [];
    return beyond(ours[0], theirs[0], `${path}[]`);
  }
  if (!isObject(ours) || !isObject(theirs)) return [];
  // Where the one is expanded and the other an object of another kind, there is nothing to compare.
  if (ours.object !== theirs.object) return [];
  return Object.entries(ours).flatMap(([name, value]) => {
    if (FREE.has(name)) return [];
    const at = `${path} → ${name}`;
    if (OF_A_KIND.some((kind) => at.endsWith(kind))) return [];
    if (!(name in theirs)) return [`${at} is no field of Stripe's`];
    const other = theirs[name];
    if (value === null || other === null || isExpanded(value, other)) return [];
    if (typeof value !== typeof other)
      return [`${at} is a ${typeof value}, and a ${typeof other} with Stripe`];
    return beyond(value, other, at);
  });
}

function isExpanded(a: unknown, b: unknown): boolean {
  return (typeof a === 'string' && isObject(b)) || (isObject(a) && typeof b === 'string');
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
