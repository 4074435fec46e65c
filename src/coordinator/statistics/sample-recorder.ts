/** Samples of the agents that are linked here: into the archive, and the live ones to their subscribers. */
import { liveSampleSubject, type LiveSample } from '../bus/subjects.js'
import { resolveCounter } from '../../resources/counters.js'
import type { Samples } from '../../messages/agent-to-coordinator.js'
import { MalformedMessage } from '../../messages/codec.js'
import { createBoundedCache } from '../../runtime/bounded-cache.js'
import type { StateService } from '../service.js'

interface SampledAgent {
  readonly agentId: number
  /** Whose it is; null: the system administrator's. */
  readonly organizationId: number | null
}

export interface SampleRecorder {
  /** Never waits. Throws MalformedMessage for values without names. */
  take(agent: SampledAgent, samples: Samples): void
  /** The link ended. */
  forget(agentId: number): void
}

interface Link {
  readonly names: readonly string[]
  /** How much later our clock is than the agent's. */
  readonly offsetMs: number
  /** When the newest sample for the archive was taken, by the agent's clock; null: none came on this link. */
  readonly sampledAt: number | null
}

type NameLists = ReturnType<typeof createBoundedCache<string, readonly string[]>>

/** Lists of names kept; caches of the same release and storage share one. */
const listsMost = 1000

export function createSampleRecorder(service: StateService): SampleRecorder {
  const links = new Map<number, Link>()
  const lists = createBoundedCache<string, readonly string[]>(listsMost)
  return {
    take: ({ agentId, organizationId }, samples) => {
      const { at, live, values } = samples
      const link = links.get(agentId)
      const names = findNames(samples, link, lists)
      const offsetMs = alignClock(link?.offsetMs ?? null, { at, receivedAt: service.now() })
      const before = link?.sampledAt ?? null
      links.set(agentId, { names, offsetMs, sampledAt: live ? before : at })
      const sample: LiveSample = { agentId, at: at + offsetMs, names, values }
      // On one link nothing is lost: rates hold since the sample before, however late it is.
      const spanMs = before === null ? null : at - before
      if (live) service.bus.publish(liveSampleSubject(agentId), sample)
      else service.statistics.record({ ...sample, organizationId, spanMs })
    },
    forget: (agentId) => {
      if (links.delete(agentId)) service.statistics.release(agentId)
    },
  }
}

/** What is stored and shown has the form of a counter's name, whatever the agent says. Equal lists are one. */
function findNames(
  { names: sent, values }: Samples,
  link: Link | undefined,
  lists: NameLists,
): readonly string[] {
  const names = sent ? shareNames(sent, lists) : (link?.names ?? [])
  if (names.length === values.length) return names
  throw new MalformedMessage(`${values.length} values came for ${names.length} names of counters`)
}

function shareNames(sent: readonly string[], lists: NameLists): readonly string[] {
  const text = JSON.stringify(sent)
  const known = lists.get(text)
  if (known) return known
  const odd = sent.find((name) => resolveCounter(name) === null)
  if (odd !== undefined)
    throw new MalformedMessage(`${JSON.stringify(odd.slice(0, 80))} is not a name of a counter`)
  lists.set(text, sent)
  return sent
}

/** Samples that came so much too early or late mean that a clock was set. */
const toleranceMs = 30_000

/**
 * How much later the coordinator's clock is than the agent's; `before` is of the link's earlier samples. The agent's own times
 * are as far apart as the samples, whatever its link does to them, but its clock may be wrong.
 */
function alignClock(
  before: number | null,
  { at, receivedAt }: { readonly at: number; readonly receivedAt: number },
): number {
  const offset = receivedAt - at
  return before !== null && Math.abs(offset - before) <= toleranceMs ? before : offset
}
