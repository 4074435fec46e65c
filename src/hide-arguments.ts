/** Arguments of a process can be read by everybody on its host (`ps`). */

/** `secretFlags`: those that hold a password. It is seen for the moment that a start takes, not for as long as the process runs. */
export function hideArguments(secretFlags: readonly string[]): void {
  if (secretFlags.length > 0) process.title = 'cachefleetd'
}
