/** Events as a stream's text (HTML standard, 9.2 Server-sent events). Data is JSON on one line. */
import { isFigure } from '../../resources/counters.js'
import { dataFor, eventNameOf, type FleetEvent, type EventFilter } from '../../resources/event.js'

/** What the subscriber gets of these; empty: nothing. */
export function printEvents(events: readonly FleetEvent[], filter: EventFilter): string {
  let text = ''
  for (const event of events) {
    const data = dataFor(filter, event)
    if (data !== null)
      text += `id: ${event.id}\nevent: ${eventNameOf(event.type)}\ndata: ${data}\n\n`
  }
  return text
}

/** Missed events are gone: the caller reads again what it shows, and continues from this id. */
export function printReset(id: number, reason: string): string {
  return `id: ${id}\nevent: reset\ndata: ${JSON.stringify({ reason })}\n\n`
}

/**
 * A keep-alive. The id alone is not an event, but a caller that gets few events resumes from it: without it, its last
 * event would be forgotten here some time, and it would be reset for nothing.
 */
export function printComment(id: number): string {
  return `:\nid: ${id}\n\n`
}

/**
 * One sample of an agent. Without an id: it is not resumed, and moves nothing on. `values` is JSON, made once for all who
 * hear it.
 */
export function printSample(agent: NamedAgent, at: number, values: string): string {
  const head = JSON.stringify({ agent, at: new Date(at).toISOString() }).slice(0, -1)
  return `event: sample\ndata: ${head},"values":${values}}\n\n`
}

interface NamedAgent {
  readonly id: number
  readonly name: string
}

/** By counter; figures of groups, and those whose names begin with `hidden`, are left out. */
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
