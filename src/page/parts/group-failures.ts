/** What failed on several caches, by what they said. */

export interface Judged {
  readonly agent: { readonly name: string }
  readonly error: string | null
}

interface Failure {
  readonly error: string
  readonly agents: readonly string[]
}

/** Each distinct text once, with the caches that said it. */
export function groupFailures(places: readonly Judged[]): readonly Failure[] {
  const failures = new Map<string, string[]>()
  for (const { agent, error } of places)
    if (error !== null) failures.set(error, [...(failures.get(error) ?? []), agent.name])
  return [...failures].map(([error, agents]) => ({ error, agents }))
}
