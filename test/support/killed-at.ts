/** The point at which a process is killed: before or after an operation of this name. Undefined: never. */
export interface Death {
  readonly when: string | undefined;
  readonly operation: string | undefined;
}

/** The same object, but the process is killed at the operation, without warning. */
export function killedAt<T extends object>(target: T, { when, operation }: Death): T {
  return new Proxy(target, {
    get(object, name) {
      const value = Reflect.get(object, name, object);
      if (typeof value !== 'function') return value;
      if (name !== operation) return value.bind(object);
      return async (...args: unknown[]) => {
        if (when === 'after') await value.apply(object, args);
        process.kill(process.pid, 'SIGKILL');
      };
    },
  });
}
