/** Events as a stream's text (HTML standard, 9.2 Server-sent events). Data is JSON on one line. */
import { dataFor, type FleetEvent, type Hearing } from './event.js'

/** What the listener hears of these; empty: nothing. */
export function printEvents(events: readonly FleetEvent[], hearing: Hearing): string {
  let text = ''
  for (const event of events) {
    const data = dataFor(hearing, event)
    if (data !== null) text += `id: ${event.id}\nevent: ${event.type}\ndata: ${data}\n\n`
  }
  return text
}

/** What was missed cannot be told: the caller reads again what it shows, and goes on from this id. */
export function printReset(id: number, reason: string): string {
  return `id: ${id}\nevent: reset\ndata: ${JSON.stringify({ reason })}\n\n`
}

/**
 * A sign of life. The id alone is no event, but is what a caller that hears little resumes from: without it, its last
 * event would be forgotten here some time, and it would be reset for nothing.
 */
export function printComment(id: number): string {
  return `:\nid: ${id}\n\n`
}
