import type { KubeObject } from './kube-object.ts';

/** Tells people what happened to an object: `kubectl describe` and `kubectl events` show it for about an hour. */
export interface EventRecorder {
  /**
   * Never fails and never waits. The same event of the same object again is counted on the first one, and an object that
   * has too much to tell is heard only now and then.
   */
  record(about: KubeObject, event: EventContent): void;

  /** Resolves when everything recorded so far is written, or could not be. */
  flush(): Promise<void>;
}

export interface EventContent {
  readonly type: 'Normal' | 'Warning';
  /** Why, one word in CamelCase from a documented list. */
  readonly reason: string;
  /** What was done or tried, one word in CamelCase: `Scale`, `Mirror`. */
  readonly action: string;
  /** For people; cut at 1,024 bytes. Numbers that always differ make events that are never the same. */
  readonly note: string;
}
