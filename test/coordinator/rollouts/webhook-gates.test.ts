/** Webhook gates: when webhooks are asked, what their answers mean, and that nothing waits for them. */
import type { ServerResponse } from 'node:http'
import fc from 'fast-check'
import { pino } from 'pino'
import t from 'tap'
import type { RolloutRecord } from '../../../src/coordinator/fleet/rollout-queries.js'
import { judgeGates, judgeTogether } from '../../../src/coordinator/rollouts/judge-gates.js'
import { completePolicy } from '../../../src/coordinator/rollouts/policy.js'
import {
  createWebhookGates,
  type AskWebhook,
  type WebhookQuestion,
} from '../../../src/coordinator/rollouts/webhook-gates.js'
import { createGateAsker } from '../../../src/coordinator/webhooks/ask-gate.js'
import { readGateAnswer } from '../../../src/coordinator/webhooks/read-gate-answer.js'
import { rolloutStates } from '../../../src/resources/rollout.js'
import { eventually } from '../../support/eventually.js'
import { idOf, startTenants } from '../identity/people.js'
import { startReceiver, type Answer } from '../webhooks/receiver.js'
import { finish } from './finish-steps.js'
import { makeRollout } from './made-rollout.js'

const root = { errorKey: 'deploy', fqdns: [] } as const
const silent = pino({ level: 'silent' })

function makeBaking(change: Partial<RolloutRecord> = {}, webhookIds = [1]): RolloutRecord {
  const gates = webhookIds.map((id) => ({ name: 'webhook' as const, webhook: { id } }))
  const policy = completePolicy({ waves: [{ count: 1 }], gates }, root)
  const made = makeRollout({ groupId: 7, groupName: 'site', organizationId: null, policy })
  const baking = { state: rolloutStates.Baking, endedAt: null, reason: null }
  return { ...made, id: 1, organization: null, epoch: 1, ...baking, ...change }
}

void t.test('an answer without a verdict is inconclusive, whatever it holds', (t) => {
  const read = (answer: string | null, isDelivered = true) =>
    readGateAnswer({ isDelivered, status: 200, answer, error: isDelivered ? null : 'no answer' })
  t.same(read('{"verdict": "pass"}'), { verdict: 'pass', reason: null })
  t.same(read('{"verdict": "fail", "reason": "p99\\u0000of\\nthe shop"}'), {
    verdict: 'fail',
    reason: 'p99 of the shop',
  })
  t.same(read('{"verdict": "fail"}'), { verdict: 'fail', reason: 'it answered fail' })
  t.same(read('{"verdict": "wait"}'), { verdict: 'inconclusive', reason: 'it answered wait' })
  t.same(read('{"verdict": "pass"}', false), { verdict: 'inconclusive', reason: 'no answer' })
  const odd = ['', 'ok', 'null', '"pass"', '["pass"]', '{"verdict": "PASS"}', '{"verdict": true}']
  const cut = JSON.stringify({ verdict: 'pass', reason: 'x'.repeat(2000) }).slice(0, 1024)
  for (const answer of [...odd, cut, '{"verdict": "toString"}', null])
    t.match(read(answer), { verdict: 'inconclusive', reason: /its answer has no verdict/ })
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.json()), (answer) => {
      const { verdict, reason } = read(answer)
      return verdict === 'inconclusive' && reason !== null
    }),
  )
  t.end()
})

void t.test('the newest answer decides the gate; without one it is inconclusive', (t) => {
  const { gates } = makeBaking({}, [1, 2]).policy
  const judge = (...webhooks: Parameters<typeof judgeGates>[1]['webhooks']) =>
    judgeTogether(finish(judgeGates(gates.slice(0, 2), { switched: [], control: [], webhooks })))
  const [pass, fail] = [
    { verdict: 'pass', reason: null },
    { verdict: 'fail', reason: 'the shop is slow' },
  ] as const
  t.match(judge(), { verdict: 'inconclusive', why: 'webhook on all: no answer has arrived yet' })
  t.match(judge(pass, null), { verdict: 'inconclusive' })
  t.same(judge(pass, pass), { verdict: 'pass', why: null })
  t.match(judge(pass, fail), { verdict: 'fail', why: 'webhook on all: the shop is slow' })
  t.throws(() => completePolicy({ waves: [{ count: 1 }], gates: [{ name: 'webhook' }] }, root), {
    message: /gates\[0\]: webhook is missing/,
  })
  t.end()
})

interface Asked extends WebhookQuestion {
  readonly answer: (verdict: 'pass' | 'fail') => void
}

/** Holds questions until the test answers them. */
function holdQuestions() {
  const asked: Asked[] = []
  const ask: AskWebhook = (question, signal) =>
    new Promise((resolve, reject) => {
      const answer: Asked['answer'] = (verdict) => {
        resolve({ verdict, reason: null })
      }
      asked.push({ ...question, answer })
      signal.addEventListener('abort', () => {
        reject(new Error('stopped'))
      })
    })
  return { asked, gates: createWebhookGates(ask, silent) }
}

void t.test('each webhook is asked once after the switch, and not again meanwhile', async (t) => {
  const { asked, gates } = holdQuestions()
  const baking = makeBaking({}, [5, 6])
  for (const state of [rolloutStates.Switching, rolloutStates.Paused, rolloutStates.RollingBack])
    gates.ask([{ ...baking, state }])
  t.same(asked, [])
  gates.ask([baking])
  gates.ask([baking])
  t.same(
    asked.map(({ webhookId }) => webhookId),
    [5, 6],
  )
  t.same(gates.read(baking), [null, null, null], 'a pending question has no answer')
  asked[0]?.answer('fail')
  await eventually('the answer arrives', () => gates.read(baking)[0]?.verdict === 'fail')
  gates.ask([baking])
  t.equal(asked.length, 2, 'not again within 10 s')

  const anew = { ...baking, epoch: 2 }
  t.same(gates.read(anew), [], 'an answer of an earlier bake does not count')
  gates.ask([anew])
  t.equal(asked.length, 4)
  asked[1]?.answer('fail')
  asked[3]?.answer('pass')
  await eventually('the answer arrives', () => gates.read(anew)[1]?.verdict === 'pass')
  t.equal(gates.read(anew)[0], null, 'a late answer is ignored')
  await gates.close()
})

void t.test('hanging webhooks of one owner leave room for those of others', async (t) => {
  const { asked, gates } = holdQuestions()
  const many = Array.from({ length: 200 }, (_, at) => makeBaking({ id: at + 1, organizationId: 1 }))
  const other = makeBaking({ id: 1000, organizationId: 2 })
  gates.ask([...many, other])
  const own = asked.filter(({ rollout }) => rollout.organizationId === 1)
  t.ok(own.length <= 90, `${own.length} at once`)
  t.ok(asked.some(({ rollout }) => rollout.organizationId === 2))
  for (const { answer } of own) answer('pass')
  await eventually('the rest is asked', () => {
    gates.ask([...many, other])
    return asked.length > own.length + 1
  })
  await gates.close()
})

void t.test('the rollout is posted to the webhook of its owner', async (t) => {
  const tenants = await startTenants(t)
  await tenants.makeOrganization('one')
  const ann = await tenants.addPerson('ann', 'one')
  const receiver = await startReceiver(t)
  const fields = { name: 'gatekeeper', url: receiver.url, types: [] }
  const made = await ann.call(201, 'POST', '/webhooks', fields)
  const webhookId = idOf(made)
  const { organizationId } = await tenants.controller.identity.service.store.queries
    .selectFrom('webhooks')
    .select('organizationId')
    .where('id', '=', webhookId)
    .executeTakeFirstOrThrow()
  const { signal } = new AbortController()
  const ask = createGateAsker(tenants.controller.identity)
  const rollout = makeBaking({ organizationId })
  const held: ServerResponse[] = []
  const answers: readonly (readonly [Answer, object])[] = [
    [(response) => response.end('{"verdict": "pass"}'), { verdict: 'pass', reason: null }],
    [
      (response) => response.end('{"verdict": "fail", "reason": "slow"}'),
      { verdict: 'fail', reason: 'slow' },
    ],
    [(response) => response.end('{"verdict": "wait"}'), { verdict: 'inconclusive' }],
    [
      (response) => response.writeHead(500).end('{"verdict": "pass"}'),
      { verdict: 'inconclusive', reason: 'it answered 500' },
    ],
    [
      (response) => response.writeHead(307, { location: 'http://169.254.169.254/' }).end(),
      { verdict: 'inconclusive', reason: 'it answered 307, which is not followed' },
    ],
    [(response) => response.destroy(), { verdict: 'inconclusive', reason: 'ECONNRESET' }],
  ]
  for (const [answer, expected] of answers) {
    receiver.answer = answer
    t.match(await ask({ webhookId, rollout }, signal), expected)
  }
  t.match(receiver.received[0], {
    type: 'gate',
    data: { id: 1, stateName: 'Baking', vclGroup: { id: 7, name: 'site' }, wave: 1 },
    signature: /^t=\d+,v1=[0-9a-f]{64}$/,
  })
  t.match(await ann.call(200, 'GET', `/webhooks/${webhookId}/deliveries`), [
    { type: 'gate', state: 'failed', error: 'ECONNRESET' },
    { type: 'gate', state: 'failed', status: 307 },
    { type: 'gate', state: 'failed', status: 500 },
    { type: 'gate', state: 'delivered', answer: '{"verdict": "wait"}' },
  ])

  const away = { verdict: 'inconclusive', reason: 'the webhook is gone, or turned off' }
  const others = makeBaking({ organizationId: null })
  t.same(await ask({ webhookId, rollout: others }, signal), away, 'it has another owner')
  receiver.answer = (response) => held.push(response)
  const stopping = new AbortController()
  const count = receiver.received.length
  const stopped = ask({ webhookId, rollout }, stopping.signal)
  await eventually('the webhook is called', () => receiver.received.length > count)
  stopping.abort()
  t.match(await stopped, { verdict: 'inconclusive', reason: 'the coordinator stops' })
  await ann.call(200, 'PUT', `/webhooks/${webhookId}`, { enabled: false })
  t.same(await ask({ webhookId, rollout }, signal), away)
})
