/** Matches events to webhooks. Pure, in steps: a deploy to a large fleet creates thousands of events at once. */
import { dataFor, eventNameOf, type EventType, type FleetEvent } from '../../resources/event.js'
import type { Filter } from '../../resources/list-query.js'
import type { WebhookType } from '../../resources/webhook.js'
import { groupBy } from '../../group-by.js'
import type { NewDelivery } from './delivery-queries.js'
import { matchesFilter, parseEventFilter } from './event-filter.js'

export interface Subscriber {
  readonly id: number
  readonly organizationId: number | null
  readonly types: readonly WebhookType[]
  readonly filter: string
  /** Events up to and including this one are not delivered to it. */
  readonly position: number
}

export type TimedEvent = FleetEvent & { readonly createdAt: number }

/** Checking one filter takes about a microsecond. */
const checksPerStep = 1_000

/** Returns the deliveries in the order of the events. */
export function* chooseDeliveries(
  events: readonly TimedEvent[],
  subscribers: readonly Subscriber[],
): Generator<void, NewDelivery[], void> {
  const compiled = subscribers.map((one) => ({ ...one, filters: compile(one) }))
  const byOwner = groupBy(compiled, ({ organizationId }) => organizationId)
  const chosen: NewDelivery[] = []
  let checks = 0
  for (const event of events) {
    const parse = rememberParsed()
    // Shared events may match any webhook; others only those of their owner and of the system administrator.
    const owners =
      event.sharedData === null ? new Set([event.organizationId, null]) : byOwner.keys()
    for (const owner of owners)
      for (const subscriber of byOwner.get(owner) ?? []) {
        if (++checks % checksPerStep === 0) yield
        chosen.push(...chooseFor(subscriber, event, parse))
      }
  }
  return chosen
}

type Compiled = Subscriber & { readonly filters: readonly Filter[] | null }

/** Returns at most one. */
function chooseFor(
  { id, organizationId, types, position, filters }: Compiled,
  event: TimedEvent,
  parse: (json: string) => unknown,
): NewDelivery[] {
  const { type, createdAt: at } = event
  if (event.id <= position || filters === null || !isWanted(types, type)) return []
  const data = dataFor({ organizationId, types: [type] }, event)
  if (data === null) return []
  const isChosen = filters.length === 0 || matchesFilter(filters, parse(data))
  return isChosen ? [{ webhookId: id, type: eventNameOf(type), at, data }] : []
}

function isWanted(types: readonly WebhookType[], type: EventType): boolean {
  const name = eventNameOf(type)
  return types.some((one) => one === name)
}

/** Null if another version wrote an unknown filter; the other webhooks are still served. */
function compile({ filter, types }: Subscriber): readonly Filter[] | null {
  try {
    return parseEventFilter(filter, types)
  } catch {
    return null
  }
}

/** An event has at most two JSON texts; each is parsed once for all webhooks. */
function rememberParsed(): (json: string) => unknown {
  const known = new Map<string, unknown>()
  return (json) => {
    if (!known.has(json)) known.set(json, JSON.parse(json))
    return known.get(json)
  }
}
