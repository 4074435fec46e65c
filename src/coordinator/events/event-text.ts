/** Events as a stream's text (HTML standard, 9.2 Server-sent events). Data is JSON on one line. */
import { isFigure } from '../../resources/counters.js'
import { dataFor, eventNameOf, type FleetEvent, type EventFilter } from '../../resources/event.js'

/** Returns the text for the subscriber; empty if it may read none of them. */
export function printEvents(events: readonly FleetEvent[], filter: EventFilter): string {
  let text = ''
  for (const event of events) {
    const data = dataFor(filter, event)
    if (data !== null)
      text += `id: ${event.id}\nevent: ${eventNameOf(event.type)}\ndata: ${data}\n\n`
  }
  return text
}

/** Missed events are no longer kept: the caller reloads its data and continues from this id. */
export function printReset(id: number, reason: string): string {
  return `id: ${id}\nevent: reset\ndata: ${JSON.stringify({ reason })}\n\n`
}

/**
 * A keep-alive. The id alone is not an event, but a caller with few events can resume from it; otherwise its last event would
 * expire and it would be reset needlessly.
 */
export function printComment(id: number): string {
  return `:\nid: ${id}\n\n`
}

/**
 * One sample of an agent, without an id, because samples are not resumed. `values` is JSON, composed once for all
 * subscribers.
 */
export function printSample(agent: NamedAgent, at: number, values: string): string {
  const head = JSON.stringify({ agent, at: new Date(at).toISOString() }).slice(0, -1)
  return `event: sample\ndata: ${head},"values":${values}}\n\n`
}

interface NamedAgent {
  readonly id: number
  readonly name: string
}

/** By counter, without figures of groups and names that begin with `hidden`. */
export function printValues(
  names: readonly string[],
  values: readonly (number | null)[],
  hidden: string | null,
): string {
  const shown = names
    .map((name, index) => [name, values[index] ?? null] as const)
    .filter(([name]) => !isFigure(name) && (hidden === null || !name.startsWith(hidden)))
  return JSON.stringify(Object.fromEntries(shown))
}
