/** Who receives which events, and how they are written. */
import fc from 'fast-check'
import t from 'tap'
import {
  optInEventTypes,
  dataFor,
  eventTypes,
  eventFilterOf,
  parseLastEventId,
  type FleetEvent,
  type EventFilter,
} from '../../src/resources/event.js'
import {
  printComment,
  printEvents,
  printReset,
  printSample,
  printValues,
} from '../../src/coordinator/events/event-text.js'
import { permissionTypes, type Actor } from '../../src/resources/permission.js'
import { bearerTypes } from '../../src/resources/problem.js'

const owner = fc.option(fc.integer({ min: 1, max: 3 }), { nil: null })
const event: fc.Arbitrary<FleetEvent> = fc.record({
  id: fc.integer({ min: 1 }),
  type: fc.constantFrom(...eventTypes, ...optInEventTypes),
  organizationId: owner,
  data: fc.constant('{"whole":true}'),
  sharedData: fc.option(fc.constant('{"whole":false}'), { nil: null }),
})
const hearing: fc.Arbitrary<EventFilter> = fc.record({
  organizationId: owner,
  types: fc.subarray([...eventTypes, ...optInEventTypes]),
})

void t.test('only the owner and the system administrator receive the full data', (t) => {
  fc.assert(
    fc.property(event, hearing, (event, hearing) => {
      const told = dataFor(hearing, event)
      if (told === null) return
      t.ok(hearing.types.includes(event.type))
      const seesAll = hearing.organizationId === null
      if (told === event.data) t.ok(seesAll || hearing.organizationId === event.organizationId)
      else t.equal(told, event.sharedData)
    }),
  )
  t.end()
})

const problemTypes = bearerTypes.map((bearer) => `problem:${bearer}`)

/** As documented: the read permission for a problem is that of its bearer; for backends it is agents and groups. */
function typesRead(type: string): readonly string[] {
  if (type === 'backend') return ['agent', 'vclgroup']
  return ['problem:stage', 'rollout', 'problem:rollout'].includes(type)
    ? ['vclgroup']
    : [type.replace('problem:', '')]
}

void t.test('a regular user receives the types it may read, some only on request', (t) => {
  const asked = fc.subarray([...optInEventTypes])
  const grants = fc.dictionary(
    fc.constantFrom(...permissionTypes),
    fc.constantFrom('read' as const, 'write' as const),
  )
  fc.assert(
    fc.property(grants, grants, asked, fc.boolean(), (grants, limits, asked, isToken) => {
      const actor: Actor = {
        accountId: 1,
        accountName: 'ann',
        sessionId: 1,
        organizationId: 1,
        grants,
        role: 'regular',
        ...(isToken ? { limits } : {}),
      }
      t.strictSame(
        eventFilterOf(actor, asked).types,
        [...eventTypes, ...problemTypes, ...asked].filter((type) =>
          typesRead(type).every((read) => read in grants && (!isToken || read in limits)),
        ),
      )
    }),
  )
  t.end()
})

void t.test('Last-Event-ID parses to an id of ours, to undefined or to null', (t) => {
  t.equal(parseLastEventId(undefined), undefined)
  t.equal(parseLastEventId(''), undefined)
  t.equal(parseLastEventId('0'), 0)
  t.equal(parseLastEventId('17'), 17)
  for (const text of ['-1', '+1', '01', '1.0', '1e3', ' 1', 'abc', "1' OR 1=1", '9'.repeat(16)])
    t.equal(parseLastEventId(text), null, text)
  fc.assert(
    fc.property(fc.string(), (text) => {
      const id = parseLastEventId(text)
      t.ok(id === undefined || id === null || String(id) === text)
    }),
  )
  t.end()
})

void t.test('each event is one block with its id, its type and one line of data', (t) => {
  const all = { organizationId: null, types: [...eventTypes, ...optInEventTypes] }
  fc.assert(
    fc.property(fc.array(event), (events) => {
      const blocks = printEvents(events, all).split('\n\n').slice(0, -1)
      t.strictSame(
        blocks,
        events.map(({ id, type, data }) => `id: ${id}\nevent: ${type}\ndata: ${data}`),
      )
    }),
  )
  t.equal(printComment(7), ':\nid: 7\n\n')
  t.equal(printReset(7, 'too "old"'), 'id: 7\nevent: reset\ndata: {"reason":"too \\"old\\""}\n\n')
  t.end()
})

void t.test('a sample has no id, and all values except hidden ones', (t) => {
  const values = printValues(['MAIN.a', 'VBE.b.c', 'MAIN.d'], [0.5, 1, null], 'VBE.')
  t.equal(
    printSample({ id: 7, name: 'edge' }, Date.UTC(2026, 0, 2), values),
    'event: sample\ndata: {"agent":{"id":7,"name":"edge"},"at":"2026-01-02T00:00:00.000Z",' +
      '"values":{"MAIN.a":0.5,"MAIN.d":null}}\n\n',
  )
  const value = fc.option(fc.double({ noNaN: true, noDefaultInfinity: true }), { nil: null })
  fc.assert(
    fc.property(fc.dictionary(fc.string(), value), (values) => {
      const names = Object.keys(values)
      const all = JSON.parse(printValues(names, Object.values(values), null)) as typeof values
      t.strictSame(Object.keys(all).toSorted(), names.toSorted())
      const shown = JSON.parse(printValues(names, Object.values(values), 'V')) as typeof values
      t.notOk(Object.keys(shown).some((name) => name.startsWith('V')))
    }),
  )
  t.end()
})
