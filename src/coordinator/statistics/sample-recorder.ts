/** Samples of the agents linked here: stores them in the archive, and sends the live ones to their subscribers. */
import { liveSampleSubject, type LiveSample } from '../bus/subjects.js'
import { resolveCounter } from '../../resources/counters.js'
import type { Samples } from '../../messages/agent-to-coordinator.js'
import { MalformedMessage } from '../../messages/codec.js'
import { createBoundedCache } from '../../runtime/bounded-cache.js'
import type { StateService } from '../service.js'

interface SampledAgent {
  readonly agentId: number
  /** The owner; null: the system administrator. */
  readonly organizationId: number | null
}

export interface SampleRecorder {
  /** Never waits. Throws MalformedMessage for values without names. */
  take(agent: SampledAgent, samples: Samples): void
  /** Called when the link ended. */
  forget(agentId: number): void
}

interface Link {
  readonly names: readonly string[]
  /** How far the coordinator's clock is ahead of the agent's. */
  readonly offsetMs: number
  /** When the newest sample for the archive was taken, by the agent's clock; null: none on this link yet. */
  readonly sampledAt: number | null
}

type NameLists = ReturnType<typeof createBoundedCache<string, readonly string[]>>

/** The maximum number of name lists kept; caches with the same release and storage share one. */
const maxLists = 1000

export function createSampleRecorder(service: StateService): SampleRecorder {
  const links = new Map<number, Link>()
  const lists = createBoundedCache<string, readonly string[]>(maxLists)
  return {
    take: ({ agentId, organizationId }, samples) => {
      const { at, live, values } = samples
      const link = links.get(agentId)
      const names = findNames(samples, link, lists)
      const offsetMs = alignClock(link?.offsetMs ?? null, { at, receivedAt: service.now() })
      const before = link?.sampledAt ?? null
      links.set(agentId, { names, offsetMs, sampledAt: live ? before : at })
      const sample: LiveSample = { agentId, at: at + offsetMs, names, values }
      // A link loses nothing: rates cover the time since the previous sample, however late the sample is.
      const spanMs = before === null ? null : at - before
      if (live) service.bus.publish(liveSampleSubject(agentId), sample)
      else service.statistics.record({ ...sample, organizationId, spanMs })
    },
    forget: (agentId) => {
      if (links.delete(agentId)) service.statistics.release(agentId)
    },
  }
}

/** Names from the agent must have the form of a counter name, because they are stored and shown. Equal lists are shared. */
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

/** A larger change of the offset means that a clock was set. */
const toleranceMs = 30_000

/**
 * How far the coordinator's clock is ahead of the agent's; `before` is the offset of the link's earlier samples. The agent's
 * times show the true distance between samples, whatever the delays of the link, but its clock may be wrong.
 */
function alignClock(
  before: number | null,
  { at, receivedAt }: { readonly at: number; readonly receivedAt: number },
): number {
  const offset = receivedAt - at
  return before !== null && Math.abs(offset - before) <= toleranceMs ? before : offset
}
