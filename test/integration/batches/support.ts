import { randomUUID } from 'node:crypto';
import type { Caller } from '../../../src/tenants/accounts/caller.ts';
import type { Plan } from '../../../src/tenants/plans/plan.ts';
import type { BatchSubmission } from '../../../src/work/batches/batch-admission.ts';

/** Somebody who asks for batches, under a plan. */
export function callerWith(plan: Plan, mode: Caller['mode'] = 'live'): Caller {
  return {
    accountId: randomUUID(),
    apiKeyId: 'key',
    apiKeyPrefix: 'sk_live_x',
    mode,
    planName: 'professional',
    plan,
  };
}

/** A batch of so many small documents that share their options. */
export function batchOf(count: number): BatchSubmission {
  return {
    batchId: randomUUID(),
    items: Array.from({ length: count }, (_, i) => ({
      id: `item-${i}`,
      fileName: `item-${i}.pdf`,
      source: { mode: 'html', html: `<p>${i}</p>` },
      options: { scale: 0.5, headerTemplate: '<b>x</b>'.repeat(20) },
    })),
    notes: '',
    metadata: {},
    webhookUrl: null,
    retentionHours: 24,
  };
}

export class Killed extends Error {}

/** What dies at one call of a method: before it has any effect, or right after. */
export function dyingAt<T extends object>(
  target: T,
  method: keyof T,
  nth: number,
  when: 'before' | 'after',
): T {
  let calls = 0;
  return new Proxy(target, {
    get(object, name) {
      const value = Reflect.get(object, name, object);
      if (typeof value !== 'function') return value;
      if (name !== method) return value.bind(object);
      return async (...args: unknown[]) => {
        calls += 1;
        if (calls !== nth) return value.apply(object, args);
        if (when === 'after') await value.apply(object, args);
        throw new Killed();
      };
    },
  });
}

/**
 * Has whoever calls a method for the `nth` time from now die there: before it has any effect, or right after. For parts
 * that many others hold already; the call that is returned undoes it.
 */
export function dieAt<T extends object>(target: T, method: keyof T & string) {
  return (nth: number, when: 'before' | 'after'): (() => void) => {
    const own = Object.getOwnPropertyDescriptor(target, method);
    const dying = dyingAt(target, method, nth, when);
    const value: unknown = Reflect.get(dying, method);
    Object.defineProperty(target, method, { value, configurable: true });
    return () => {
      Reflect.deleteProperty(target, method);
      if (own !== undefined) Object.defineProperty(target, method, own);
    };
  };
}
