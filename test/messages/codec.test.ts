/** Which messages the codec accepts and refuses. */
import t from 'tap'
import fc from 'fast-check'
import type { HeldCache } from '../../src/vcl/held-cache.js'
import { judgeAnswer } from '../../src/messages/answers.js'
import type { AgentToCoordinator } from '../../src/messages/agent-to-coordinator.js'
import {
  decodeAgentMessage,
  decodeCoordinatorMessage,
  encodeMessage,
  MalformedMessage,
} from '../../src/messages/codec.js'
import type { CoordinatorToAgent } from '../../src/messages/coordinator-to-agent.js'
import { messageLimitBytes } from '../../src/messages/envelope.js'
import { textLimitBytes } from '../../src/messages/texts.js'

const envelope = { sequence: 1, traceId: 'abcdefgh' }
const sha = '0123456789abcdef'.repeat(4)
const condition = {
  engineState: 'running',
  engineError: null,
  heldRevision: 0,
  effectiveRevision: 0,
  lockedBecause: null,
} as const
const description = {
  name: 'edge-1',
  agentVersion: '0.1.0',
  capabilities: ['report', 'deploy'],
  tags: ['eu', 'ß'],
  coordinatorId: null,
  keyDigest: sha,
  engine: { host: '::1', port: 6081, version: '', workingDirectory: null },
  condition,
} as const

const held: HeldCache = {
  childRunning: true,
  vcls: [{ name: 'boot', active: true, labelOf: null, ours: false }],
  omittedVcls: 0,
  takeover: 'adopt',
  takenOver: false,
  params: [{ name: 'default_ttl', value: '5' }],
  backends: ['boot.default'],
}

const fromAgent: readonly AgentToCoordinator[] = [
  { kind: 'hello', ...envelope, ...description },
  { kind: 'fullState', ...envelope, ...description },
  { kind: 'heartbeat', ...envelope, condition },
  {
    kind: 'applyReport',
    ...envelope,
    instruction: 3,
    revision: 2,
    result: 'failed',
    error: null,
    loaded: ['cf-1-01234567-1'],
    failures: [{ program: 'cf-1-01234567-2', error: 'Message from VCC-compiler' }],
    changed: true,
  },
  {
    kind: 'answer',
    ...envelope,
    instruction: 3,
    result: 'done',
    value: { any: ['thing', null] },
    sentByPut: false,
    error: null,
  },
  {
    kind: 'backends',
    ...envelope,
    vcls: [
      {
        name: 'cf-1-01234567-1',
        healthy: ['origin'],
        sick: [{ name: 'images', since: null }],
        omitted: { healthy: 0, sick: 2 },
      },
    ],
  },
  {
    kind: 'drift',
    ...envelope,
    drift: { at: '2026-01-02T03:04:05Z', foreign: ['boot'], action: 'discarded', healedAt: null },
  },
]

const fromCoordinator: readonly CoordinatorToAgent[] = [
  {
    kind: 'welcome',
    ...envelope,
    agentId: 1,
    coordinatorId: 'c',
    heartbeatMs: 5000,
    revision: 1,
  },
  {
    kind: 'apply',
    ...envelope,
    revision: 2,
    desired: {
      load: [{ name: 'cf-1-01234567-1', sha }],
      labels: [{ label: 'cf-l-1', program: 'cf-1-01234567-1' }],
      active: 'cf-1-01234567-1',
    },
  },
  {
    kind: 'apply',
    ...envelope,
    revision: 3,
    desired: {
      load: [],
      labels: [],
      active: 'cf-idle',
      params: [{ name: 'default_ttl', value: '10' }],
      health: [
        { backend: 'default', health: 'sick', groups: null },
        { backend: 'default', health: 'auto', groups: [12] },
      ],
    },
  },
  { kind: 'query', ...envelope, query: 'vcls' },
  { kind: 'setParam', ...envelope, name: 'default_ttl', value: null },
  { kind: 'setHealth', ...envelope, backend: 'default', groups: [12], health: 'healthy' },
  { kind: 'command', ...envelope, line: 'ping' },
  { kind: 'compile', ...envelope, sha },
  {
    kind: 'test',
    ...envelope,
    sha,
    group: 7,
    waitMs: 0,
    limitMs: 30_000,
    routed: { domains: ['shop.example'], purgeSecret: 'secret' },
    file: { name: 'a.test.yaml', text: 'steps: []' },
  },
  { kind: 'reportFullState', ...envelope },
  { kind: 'unlock', ...envelope },
]

await t.test('every kind of message survives encoding and decoding', (t) => {
  for (const message of fromAgent) t.same(decodeAgentMessage(encodeMessage(message)), message)
  for (const message of fromCoordinator)
    t.same(decodeCoordinatorMessage(encodeMessage(message)), message)
  t.end()
})

await t.test('a message of the other side has an unknown kind', (t) => {
  for (const message of fromCoordinator)
    t.match(
      refusal(() => decodeAgentMessage(encodeMessage(message))),
      {
        unknownKind: message.kind,
      },
    )
  for (const message of fromAgent)
    t.match(
      refusal(() => decodeCoordinatorMessage(encodeMessage(message))),
      {
        unknownKind: message.kind,
      },
    )
  t.end()
})

await t.test('a locked agent’s description of its cache is bounded', (t) => {
  const told = { ...fromAgent[0], adoption: 'ready', adoptGroup: 'fleet', held }
  t.match(decodeAgentMessage(JSON.stringify(told)), { adoptGroup: 'fleet', held })
  const vcls = Array.from({ length: 501 }, () => held.vcls[0])
  for (const wrong of [
    { held: { ...held, vcls } },
    { held: { ...held, takeover: 'never' } },
    { held: { ...held, params: [{ name: 'x', value: 'y'.repeat(1025) }] } },
    { adoptGroup: '' },
  ])
    t.throws(() => decodeAgentMessage(JSON.stringify({ ...told, ...wrong })), /held|adoptGroup/)
  t.end()
})

await t.test('unknown keys are ignored', (t) => {
  const text = JSON.stringify({ ...fromAgent[2], novelty: { deep: 1 } })
  t.match(decodeAgentMessage(text), { kind: 'heartbeat' })
  t.end()
})

await t.test('an error names any field that is missing or of the wrong type', (t) => {
  for (const message of fromAgent) for (const path of pathsOf(message)) checkField(message, path)
  t.end()

  function checkField(message: AgentToCoordinator, path: readonly string[]): void {
    // An answer's value may be anything.
    if (message.kind === 'answer' && path[0] === 'value') return
    for (const wrong of [undefined, { wrong: true }]) {
      const text = JSON.stringify(replace(message, path, wrong))
      const error = refusal(() => decodeAgentMessage(text))
      t.ok(error, `${message.kind} ${path.join('.')} as ${JSON.stringify(wrong)}`)
      t.match(error?.message, path.at(-1) ?? '')
    }
  }
})

await t.test('invalid settings are refused', (t) => {
  const desired = { load: [], labels: [], active: 'cf-idle' }
  const apply = (settings: object) =>
    JSON.stringify({
      kind: 'apply',
      ...envelope,
      revision: 1,
      desired: { ...desired, ...settings },
    })
  t.match(decodeCoordinatorMessage(apply({})), { desired }, 'as an earlier version sends it')
  for (const [wrong, words] of [
    [{ params: null }, /params must be array/],
    [{ params: [{ name: 'a' }] }, /params\[0\]\.value/],
    [{ health: [{ backend: 'a', health: 'dead', groups: null }] }, /health must be one of/],
    [{ health: [{ backend: 'a', health: 'sick', groups: [0] }] }, /groups\[0\]/],
    [{ health: [{ backend: 'a', health: 'sick' }] }, /groups/],
  ] as const)
    t.match(refusal(() => decodeCoordinatorMessage(apply(wrong)))?.message, words)
  t.end()
})

await t.test('values out of bounds are refused', (t) => {
  const [hello, , heartbeat] = fromAgent
  const wrong: readonly [AgentToCoordinator | undefined, readonly string[], unknown][] = [
    [heartbeat, ['sequence'], 0],
    [heartbeat, ['sequence'], 1.5],
    [heartbeat, ['traceId'], 'short'],
    [heartbeat, ['traceId'], 'with\nline feed'],
    [heartbeat, ['condition', 'heldRevision'], -1],
    [heartbeat, ['condition', 'heldRevision'], 2 ** 53],
    [heartbeat, ['condition', 'engineState'], 'odd'],
    [hello, ['name'], 'a_b'],
    [hello, ['name'], 'a'.repeat(64)],
    [hello, ['agentVersion'], 'one'],
    [hello, ['tags'], ['with\u0000']],
    [hello, ['tags'], ['']],
    [hello, ['tags'], Array.from({ length: 300 }, (_, n) => `tag-${n}`)],
    [hello, ['keyDigest'], sha.toUpperCase()],
    [hello, ['engine', 'port'], 65_536],
    [hello, ['engine', 'host'], 'h'.repeat(2000)],
    [hello, ['hostName'], 'h'.repeat(2000)],
    [hello, ['engine', 'revision'], 5],
  ]
  for (const [message, path, value] of wrong)
    t.ok(
      refusal(() => decodeAgentMessage(JSON.stringify(replace(message, path, value)))),
      `${path.join('.')}: ${JSON.stringify(value).slice(0, 40)}`,
    )
  t.end()
})

await t.test('any text decodes to a message or throws MalformedMessage', (t) => {
  const texts = fc.oneof(
    fc.string(),
    fc.json(),
    fc.constantFrom(
      'null',
      '[]',
      '{}',
      '{"kind":1}',
      '{"kind":"__proto__"}',
      '{"kind":"toString"}',
    ),
    fc
      .record({
        kind: fc.constantFrom(...fromAgent.map(({ kind }) => kind)),
        condition: fc.anything(),
      })
      .map((message) => JSON.stringify(message)),
  )
  fc.assert(
    fc.property(texts, (text) => {
      const error = refusal(() => decodeAgentMessage(text))
      return error === undefined || error instanceof MalformedMessage
    }),
  )
  t.end()
})

await t.test('messages may have 1 MiB in both directions, and not a byte more', (t) => {
  const empty = encodeMessage({ kind: 'command', ...envelope, line: '' })
  const room = messageLimitBytes - Buffer.byteLength(empty)
  const full = encodeMessage({ kind: 'command', ...envelope, line: 'x'.repeat(room) })
  t.equal(Buffer.byteLength(full), messageLimitBytes)
  t.match(decodeCoordinatorMessage(full), { kind: 'command' })
  t.ok(refusal(() => encodeMessage({ kind: 'command', ...envelope, line: 'x'.repeat(room + 1) })))
  const wide = 'ü'.repeat(room / 2 + 1)
  t.ok(refusal(() => encodeMessage({ kind: 'command', ...envelope, line: wide })))
  t.ok(refusal(() => decodeCoordinatorMessage(`${full} `)))
  t.end()
})

function refusal(work: () => unknown): MalformedMessage | undefined {
  try {
    work()
    return undefined
  } catch (error) {
    if (error instanceof MalformedMessage) return error
    throw error
  }
}

/** All fields, also inside objects but not inside lists. */
function pathsOf(value: unknown, before: readonly string[] = []): string[][] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return []
  return Object.entries(value).flatMap(([key, inner]) => {
    const path = [...before, key]
    return key === 'kind' ? [] : [path, ...pathsOf(inner, path)]
  })
}

function replace(value: unknown, [key = '', ...rest]: readonly string[], by: unknown): unknown {
  // Paths from pathsOf lead through objects only.
  const record = value as Record<string, unknown>
  return { ...record, [key]: rest.length === 0 ? by : replace(record[key], rest, by) }
}

void t.test('long texts of an agent are cut on decoding, between characters', (t) => {
  const report = {
    kind: 'applyReport',
    ...envelope,
    instruction: 3,
    revision: 2,
    loaded: [],
    changed: true,
    result: 'failed',
  } as const
  const long = 'ä€😀x'.repeat(20_000)
  const decoded = decodeAgentMessage(
    encodeMessage({ ...report, error: long, failures: [{ program: 'x', error: long }] }),
  )
  if (decoded.kind !== 'applyReport') throw new Error('another kind')
  for (const text of [decoded.error ?? '', decoded.failures[0]?.error ?? '']) {
    t.ok(Buffer.byteLength(text) <= textLimitBytes && Buffer.byteLength(text) > textLimitBytes - 8)
    t.ok(text.endsWith('…') && long.startsWith(text.slice(0, -1)) && !text.includes('\ufffd'))
  }
  const command = { kind: 'command' } as const
  const compile = { kind: 'compile' } as const
  t.equal(judgeAnswer(command, long), long, 'output of the cache that a user asked for is not cut')
  t.same(judgeAnswer(compile, { error: 'x'.repeat(textLimitBytes) }), {
    error: 'x'.repeat(textLimitBytes),
  })
  t.same(judgeAnswer(compile, { error: long }), { error: decoded.error })
  t.end()
})
