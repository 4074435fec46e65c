/** The problems of a group's backends, as reported by its caches. Pure (docs/behaviour.md, Problems and Backends). */
import type { SickBackends } from '../backends/backend-facts.js'
import { countCaches, toConcerned, type Finding } from './make-problem.js'

/** Backends named in a message; the others are counted. */
const maxNamed = 3

/** `sick`: undefined if no backend is sick. */
export function findBackendProblems(sick: SickBackends | undefined, groupName: string): Finding[] {
  if (sick === undefined) return []
  const objects = sick.agents.map((agent) => toConcerned('agent', agent))
  if (sick.areAllSick)
    return [
      {
        code: 'all-backends-sick',
        message: `No backend is healthy on any cache: ${nameWorst(sick)}`,
        sinceMs: sick.lastSince,
        objects,
        remedy:
          'Bring the origins back, or roll back to a VCL whose backends answer; until then caches serve only what they hold',
      },
    ]
  return [
    {
      code: 'backend-sick',
      message: `${sick.sickSomewhere} of ${sick.total} backends ${sick.sickSomewhere === 1 ? 'is' : 'are'} sick: ${nameWorst(sick)}`,
      sinceMs: sick.since,
      objects,
      remedy:
        'Look at the origin, and at the way to it from these caches; one that was set sick goes by its probe again with ' +
        `\`agents set-backend\` and auto. All of them: \`backends list --filter vclGroup.name=${groupName}\``,
    },
  ]
}

/** `origin (2 of 34 caches), images (1 cache) and 2 more`. */
function nameWorst({ worst, sickSomewhere }: SickBackends): string {
  const named = worst.slice(0, maxNamed).map(({ name, sick, healthy }) => {
    const where = healthy === 0 ? countCaches(sick) : `${sick} of ${countCaches(sick + healthy)}`
    return `${name} (${where})`
  })
  const more = sickSomewhere - named.length
  return more === 0 ? named.join(', ') : `${named.join(', ')} and ${more} more`
}
