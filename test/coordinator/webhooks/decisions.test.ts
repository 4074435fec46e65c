/** What webhooks are sent, which of them get an event, and what an attempt means: the decisions, without a coordinator. */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { runInThisContext } from 'node:vm'
import fc from 'fast-check'
import t from 'tap'
import {
  chooseDeliveries,
  type Subscriber,
  type TimedEvent,
} from '../../../src/coordinator/webhooks/choose-deliveries.js'
import { composeBody, signBody } from '../../../src/coordinator/webhooks/compose-body.js'
import { matchesFilter, parseEventFilter } from '../../../src/coordinator/webhooks/event-filter.js'
import { judgeAttempt } from '../../../src/coordinator/webhooks/judge-attempt.js'
import { eventNameOf, eventTypes, optInEventTypes } from '../../../src/resources/event.js'
import { webhookTypes } from '../../../src/resources/webhook.js'
import { root } from '../../support/root.js'

type Check = (body: Buffer, header: string, secret: string) => boolean

const owners = fc.constantFrom(null, 1, 2)
const someEvents: fc.Arbitrary<TimedEvent[]> = fc
  .array(
    fc.record({
      type: fc.constantFrom(...eventTypes, ...optInEventTypes, 'problem:agent' as const),
      organizationId: owners,
      isShared: fc.boolean(),
      stateName: fc.constantFrom('Running', 'Down'),
    }),
    { maxLength: 30 },
  )
  .map((events) =>
    events.map(({ type, organizationId, isShared, stateName }, index) => ({
      id: index + 1,
      type,
      organizationId,
      createdAt: index,
      data: JSON.stringify({ stateName, whole: true }),
      sharedData: isShared ? JSON.stringify({ stateName }) : null,
    })),
  )
const someSubscribers: fc.Arbitrary<Subscriber[]> = fc
  .array(
    fc.record({
      organizationId: owners,
      types: fc.subarray([...webhookTypes], { minLength: 1 }),
      isFiltered: fc.boolean(),
      position: fc.nat(30),
    }),
    { maxLength: 10 },
  )
  .map((some) =>
    some.map(({ isFiltered, ...one }, index) => ({
      ...one,
      id: index + 1,
      // Only agents and deployments have this field.
      filter:
        isFiltered && (one.types.includes('agent') || one.types.includes('deployment'))
          ? 'stateName=Down'
          : '',
    })),
  )

function choose(events: readonly TimedEvent[], subscribers: readonly Subscriber[]) {
  const steps = chooseDeliveries(events, subscribers)
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
  }
}

void t.test('a webhook gets new events that it selects and its owner may read, in order', (t) => {
  fc.assert(
    fc.property(someEvents, someSubscribers, (events, subscribers) => {
      const chosen = choose(events, subscribers)
      const right = subscribers.map(({ organizationId, types, filter, position }) =>
        events
          .filter(({ id, type }) => id > position && types.some((one) => one === eventNameOf(type)))
          .map((event) => {
            const isOwn = organizationId === null || organizationId === event.organizationId
            return { at: event.createdAt, data: isOwn ? event.data : event.sharedData }
          })
          .filter(({ data }) => data !== null && (filter === '' || data.includes('Down'))),
      )
      const got = subscribers.map(({ id }) =>
        chosen.filter(({ webhookId }) => webhookId === id).map(({ at, data }) => ({ at, data })),
      )
      return JSON.stringify(got) === JSON.stringify(right)
    }),
    { numRuns: 500 },
  )
  t.end()
})

void t.test('a filter works like that of a list, on the object of the event', (t) => {
  const agent = {
    id: 7,
    name: 'edge-1',
    stateName: 'Failing',
    organization: null,
    tags: [{ name: 'eu' }, { name: 'web' }],
    config: { desired: { revision: 3 } },
  }
  const fits = (text: string) => matchesFilter(parseEventFilter(text, ['agent']), agent)
  const right = ['', 'stateName=Failing,Down', 'name=edge-*&stateName=F*', 'tags.name=web', 'id=7']
  const wrong = ['stateName=Down', 'name=edge-1&stateName=Down', 'tags.name=*b,eu2&id=8']
  for (const text of right) t.ok(fits(text), text)
  for (const text of wrong) t.notOk(fits(text), text)
  t.ok(matchesFilter(parseEventFilter('deleted=true', ['agent']), { id: 7, deleted: true }))
  t.ok(
    matchesFilter(parseEventFilter('opened.severity=3', ['problem']), {
      opened: [{ severity: 2 }, { severity: 3 }],
    }),
  )
  const refused: readonly (readonly [string, RegExp])[] = [
    ['state_name=Down', /^filter: the events have no field "state_name"; they have /],
    ['stateName=a&stateName=b', /given twice/],
    ['sort=name', /a filter has fields alone/],
    ['opened.code=drift', /no field "opened.code"/],
  ]
  for (const [text, message] of refused)
    t.throws(() => parseEventFilter(text, ['agent']), { kind: 'invalid', message }, text)
  t.end()
})

void t.test('a body has the id and the object, and its signature covers both', (t) => {
  fc.assert(
    fc.property(fc.object(), fc.nat(), (data, id) => {
      const message = { id, type: 'agent', at: 1_700_000_000_000, data: JSON.stringify(data) }
      const body = composeBody(message, 'json')
      const right = { id, type: 'agent', at: '2023-11-14T22:13:20.000Z', data }
      return JSON.stringify(JSON.parse(body)) === JSON.stringify(right)
    }),
  )
  const digest = createHmac('sha256', 'a secret').update('12.{}').digest('hex')
  t.equal(signBody('{}', 'a secret', 12), `t=12,v1=${digest}`)
  t.end()
})

void t.test('the receiver code of the guide accepts signed bodies and nothing else', async (t) => {
  const guide = await readFile(join(root, 'docs/operating.md'), 'utf8')
  const [, source = ''] =
    /```js\nimport .*\n[^]*?export (function isFromFleet[^]*?)```/.exec(guide) ?? []
  const made: unknown = runInThisContext(
    `(createHmac, timingSafeEqual) => { ${source}; return isFromFleet }`,
  )
  const isFromFleet = (made as (...given: unknown[]) => Check)(createHmac, timingSafeEqual) // as the guide has it
  const now = Math.floor(Date.now() / 1000)
  const body = Buffer.from('{"id":1}')
  t.ok(isFromFleet(body, signBody('{"id":1}', 'a secret', now), 'a secret'))
  t.notOk(isFromFleet(body, signBody('{"id":2}', 'a secret', now), 'a secret'))
  t.notOk(isFromFleet(body, signBody('{"id":1}', 'another', now), 'a secret'))
  t.notOk(isFromFleet(body, signBody('{"id":1}', 'a secret', now - 3600), 'a secret'))
  t.notOk(isFromFleet(body, 'nonsense', 'a secret'))
})

void t.test('no name can inject Slack commands', (t) => {
  const hostile = fc.oneof(
    fc.constantFrom(
      '<!channel>',
      '<!here|x>',
      '<@U1>',
      '<https://a|b>',
      'a\r\nb',
      '\u202e<',
      '&lt;',
    ),
    fc.string({ unit: 'binary' }),
  )
  fc.assert(
    fc.property(hostile, hostile, fc.constantFrom(...webhookTypes, 'test'), (one, other, type) => {
      const data = JSON.stringify({
        name: one,
        stateName: other,
        account: one,
        method: 'PUT',
        path: other,
        msg: one,
        object: { type: 'agent', name: one },
        opened: [{ code: 'drift', message: other }],
        webhook: { name: one },
        vclgroup: { name: other, stateName: one },
      })
      const body = composeBody({ id: 1, type, at: 0, data }, 'slack')
      const { text, ...rest } = JSON.parse(body) as { text: string }
      const isOneLine = !/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(text)
      return isOneLine && !/[<>]|&(?!(?:amp|lt|gt);)/.test(text) && Object.keys(rest).length === 0
    }),
    { numRuns: 1_000 },
  )
  const told = { object: { type: 'agent', id: 1, name: 'edge-1' }, closed: ['drift'] }
  const opened = [{ code: 'agent-down', message: 'It is away', remedy: 'Start it' }]
  const data = JSON.stringify({ ...told, opened })
  t.same(JSON.parse(composeBody({ id: 1, type: 'problem', at: 0, data }, 'slack')), {
    text: 'agent edge-1: agent-down: It is away. Start it; drift is over',
  })
  t.end()
})

void t.test('it is retried after 1 s to 10 min, for 24 hours; a success resets the pauses', (t) => {
  let health = judgeAttempt({ failures: 0, failingSince: null }, 'it answered 500', 0)
  let attempts = 1
  for (let at = health.retryAt; !health.isGivenUp; at = health.retryAt) {
    const before = at
    health = judgeAttempt(health, 'it answered 500', at)
    attempts += 1
    t.ok(health.retryAt - before <= 600_000 && health.retryAt - before >= 1_000)
    t.equal(health.isGivenUp, before >= 24 * 3600 * 1000)
  }
  t.ok(attempts > 140 && attempts < 170, `${attempts} attempts in 24 hours`)
  t.match(judgeAttempt(health, null, 5), { failures: 0, failingSince: null, isGivenUp: false })
  t.end()
})
