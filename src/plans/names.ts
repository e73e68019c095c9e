/** The pool of a job whose plan names none, and of a worker that was not told which pool it serves. */
export const DEFAULT_POOL = 'default';

/** Names of plans and pools: like a DNS label, with dots inside allowed; so each is part of a topic's name as it is. */
export const PLAN_OR_POOL_NAME = /^[a-z0-9]([a-z0-9.-]{0,61}[a-z0-9])?$/;
