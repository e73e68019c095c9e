/**
 * What a process of Platen that a test starts gets of this process's environment: where programs are, and where Node keeps
 * what it has compiled. Nothing else, so that a test means the same in every shell.
 */
export function inheritedEnvironment(): NodeJS.ProcessEnv {
  const names = ['PATH', 'HOME', 'JAVA_HOME', 'NODE_COMPILE_CACHE'];
  return Object.fromEntries(
    names.filter((name) => process.env[name] !== undefined).map((name) => [name, process.env[name]]),
  );
}
