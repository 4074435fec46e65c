/**
 * What one cache must hold: composed from all groups placed on its agent (choices: 4, "desired state, not orders").
 *
 * Phase one of a deploy is a desired state that loads the candidate beside what serves; phase two makes it current.
 */

/** A VCL by its name on the cache and the SHA-256 (hex) of its flattened text. */
export interface DesiredProgram {
  readonly name: string
  readonly sha: string
}

export interface DesiredLabel {
  readonly label: string
  readonly program: string
}

export interface DesiredEngine {
  readonly load: readonly DesiredProgram[]
  readonly labels: readonly DesiredLabel[]
  /** The name to use: a program of `load`, or the idle VCL. */
  readonly active: string
}

/** The VCL of a cache without a deployment: answers 503 (choices: 3, Takeover). */
export const idleVclName = 'cf-idle'
export const idleVclSource = `vcl 4.0;
backend default { .host = "127.0.0.1"; .port = "9"; }
sub vcl_recv { return (synth(503, "No deployment")); }
`

/** A group's place on one agent, as far as the cache is concerned. */
export interface PlacedPrograms {
  readonly groupId: number
  /** What serves now; null before the first switch. */
  readonly current: DesiredProgram | null
  /** What a deploy in phase one loads beside it. */
  readonly candidate: DesiredProgram | null
  /** What served before; stays loaded so that a rollback is a switch. */
  readonly previous: DesiredProgram | null
}

/** Chosen by us: the state of an agent before anything was placed on it. */
export const idleEngine: DesiredEngine = { load: [], labels: [], active: idleVclName }

export function composeDesired(placed: readonly PlacedPrograms[]): DesiredEngine {
  const groups = placed.toSorted((a, b) => a.groupId - b.groupId)
  const programs = new Map<string, DesiredProgram>()
  for (const group of groups)
    for (const program of [group.current, group.candidate, group.previous])
      if (program) programs.set(program.name, program)
  const serving = groups.find((group) => group.current !== null)?.current
  return { load: [...programs.values()], labels: [], active: serving?.name ?? idleVclName }
}

/** The name of a group's VCL on the cache; `load` counts the loads of this text (choices: 3, Names on the cache). */
export function programName(groupId: number, sha: string, load: number): string {
  return `cf-${groupId}-${sha.slice(0, 8)}-${load}`
}
