/** Every user on a host can read the arguments of its processes (`ps`). */

/** `secretFlags`: the flags that hold a password. It is visible only while the process starts, not for as long as it runs. */
export function hideArguments(secretFlags: readonly string[]): void {
  if (secretFlags.length > 0) process.title = 'cachefleetd'
}
