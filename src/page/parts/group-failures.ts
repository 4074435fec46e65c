/** Groups failures on several caches by their message. */

export interface Judged {
  readonly agent: { readonly name: string }
  readonly error: string | null
}

interface Failure {
  readonly error: string
  readonly agents: readonly string[]
}

/** Returns each distinct message once, with the caches that reported it. */
export function groupFailures(places: readonly Judged[]): readonly Failure[] {
  const failures = new Map<string, string[]>()
  for (const { agent, error } of places)
    if (error !== null) failures.set(error, [...(failures.get(error) ?? []), agent.name])
  return [...failures].map(([error, agents]) => ({ error, agents }))
}
