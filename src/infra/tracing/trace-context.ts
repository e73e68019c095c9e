import type { IncomingHttpHeaders } from 'node:http';

/**
 * The place of a piece of work in a trace, as W3C Trace Context has it (https://www.w3.org/TR/trace-context/). It is kept
 * with the work in this form, and so outlives the process that began it.
 */
export interface TraceContext {
  /** 55 characters: version, trace id, span id and flags. */
  readonly traceparent: string;
  /** What vendors of tracing add, at most 512 characters. */
  readonly tracestate?: string;
}

const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})$/;
/** As many as the standard has processes pass on at least. */
const MAX_TRACESTATE = 512;
const MAX_MEMBERS = 32;
const MEMBER =
  /^[a-z0-9][a-z0-9_\-*/@]{0,255}=[\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e]$/;
const SAMPLED = 1;

export interface TraceIds {
  readonly traceId: string;
  readonly spanId: string;
  /** Whether the spans of this trace are recorded. */
  readonly sampled: boolean;
}

/**
 * The trace that a caller continues. Whatever does not follow the standard to the letter is ignored, and the trace begins
 * here: the headers are only ever a wish.
 */
export function callersTrace({ traceparent, tracestate }: IncomingHttpHeaders): TraceContext | undefined {
  if (typeof traceparent !== 'string') return undefined;
  const ids = idsOf({ traceparent });
  if (ids === undefined) return undefined;
  const state = typeof tracestate === 'string' ? checkedState(tracestate) : undefined;
  return contextOf(ids, state);
}

/** @returns undefined for a text that is no traceparent. */
export function idsOf({ traceparent }: TraceContext): TraceIds | undefined {
  // 55 characters: a longer text is not searched.
  const [, traceId, spanId, flags] = (traceparent.length === 55 && TRACEPARENT.exec(traceparent)) || [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined;
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & SAMPLED) === SAMPLED };
}

export function contextOf({ traceId, spanId, sampled }: TraceIds, tracestate?: string): TraceContext {
  const traceparent = `00-${traceId}-${spanId}-${sampled ? '01' : '00'}`;
  return tracestate ? { traceparent, tracestate } : { traceparent };
}

/** The id of a trace that is recorded; undefined without one. */
export function recordedTrace(context: TraceContext | undefined): string | undefined {
  const ids = context && idsOf(context);
  return ids?.sampled ? ids.traceId : undefined;
}

function checkedState(text: string): string | undefined {
  if (text.length > MAX_TRACESTATE) return undefined;
  const members = text
    .split(',')
    .map((member) => member.replace(/^[ \t]+|[ \t]+$/g, ''))
    .filter((member) => member !== '');
  const isValid = members.length <= MAX_MEMBERS && members.every((member) => MEMBER.test(member));
  return isValid && members.length > 0 ? members.join(',') : undefined;
}
