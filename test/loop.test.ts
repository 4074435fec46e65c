/**
 * No input from outside blocks the event loop for long: each parser, at its largest allowed input and in the shapes that cost most,
 * yields soon (support/event-loop.ts). Only these tests are timed: by the clock or the processor, whichever is less, and the best of
 * some runs, since other programs run on the machine as well.
 */
import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import t from 'tap'
import { parseBanner } from '../protocol/release.js'
import {
  bodyLimitBytes,
  parseBody,
  publicBodyLimitBytes,
  readBodyType,
} from '../src/coordinator/http/body.js'
import { readBasic, readCookie, readToken } from '../src/coordinator/http/credentials.js'
import { isUnchanged, readIfMatch } from '../src/coordinator/http/etag.js'
import { runInSteps } from '../src/in-steps.js'
import { compareTexts } from '../src/coordinator/files/compare-texts.js'
import { expressionLimitBytes, parseBanExpression } from '../src/vcl/ban-expression.js'
import { describeFailures, translateError } from '../src/vcl/compiler-text.js'
import { selectCounters } from '../src/agent/counters/counter-selection.js'
import { parseDomainName } from '../src/resources/domain-name.js'
import { matchesPattern, parsePatterns } from '../src/resources/list-query.js'
import { isShownAs } from '../src/vcl/param-value.js'
import { makeRoutingVcl } from '../src/vcl/routing.js'
import { findLabelUse, rebuildInSteps } from '../src/vcl/running-vcl.js'
import { bundleInSteps, refuseInSteps } from '../src/vcl/bundle.js'
import { flattenedLimitBytes } from '../src/vcl/limits.js'
import { judgeAnswer, judgeInSteps, type AskedQuestion } from '../src/messages/answers.js'
import { decodeAgentMessage } from '../src/messages/codec.js'
import { answerLimitBytes, answerPartLimits, messageLimitBytes } from '../src/messages/envelope.js'
import { textLimitBytes } from '../src/messages/texts.js'
import { root } from './support/root.js'
import { attempt, fill, holdsFor, holdsForLarge } from './support/event-loop.js'

/** Node's limit for all headers of a request together. */
const headerLimitBytes = 16 * 1024

const units = [
  '{',
  '"" ',
  '""" ',
  '{""}',
  'a ',
  '\n',
  '/**/',
  '#\n',
  ':AAAA: ',
  'std.x(',
  '. ',
  '\t',
  'ä',
]
const statements = ['path; ', 'ban(', 'import x;', 'include ', 'include "x";', 'vcl(', '++ ', '{}']
const rules = { allowedExternal: new Set<string>(), modules: new Set(['std']) }
const options = { ...rules, prologue: { groupId: 1, cacheKey: 'a'.repeat(32) } }
for (const unit of [...units, ...statements]) {
  const text = `vcl 4.1;\n${fill(unit, flattenedLimitBytes - 2000)}`
  holdsFor(`VCL of ${JSON.stringify(unit)}`, () =>
    runInSteps(bundleInSteps({ name: 'main.vcl', text }, new Map(), options)),
  )
}
const included = Array.from({ length: 1000 }, (_, at) => `part ${at}`)
const parts = new Map(included.map((name) => [name, { name, text: `\t${'x'.repeat(1900)}\n` }]))
const main = {
  name: 'm.vcl',
  text: `vcl 4.1;\n${included.map((name) => `include "${name}";`).join(' ')}`,
}
holdsFor('VCL of a thousand includes', () => runInSteps(bundleInSteps(main, parts, options)))
const sourceMap = { files: ['main.vcl'], segments: [[1, 1, 0, 1, 1]] as const }
const flattened = { text: fill('a.b("c") ', flattenedLimitBytes), sourceMap }
holdsFor('a flattened text under the rules of today', () =>
  runInSteps(refuseInSteps(flattened, { ...rules, amongOthers: true })),
)

const place = "('<vcl.inline>' Line 1 Pos 1)\n"
for (const unit of [
  "' Line 1 Pos 1) -- (",
  place,
  `${place}ab\n--#\n`,
  'cf-1-00000000-1 ',
  '-',
  '\n',
])
  holdsFor(`an answer of a compiler of ${JSON.stringify(unit)}`, () =>
    translateError(`Message from VCC-compiler:\n('${fill(unit, messageLimitBytes)}`, sourceMap),
  )
const errors = Array.from({ length: 100 }, (_, at) => ({
  agentName: `edge-${at}`,
  release: 'Varnish 7.1.1',
  error: `Message from VCC-compiler:\n${fill(place, textLimitBytes / 64)}`,
}))
holdsFor('the same answer of a hundred agents', () => describeFailures(errors, sourceMap))
const otherErrors = Array.from({ length: 2_000 }, (_, at) => ({
  agentName: `edge-${at}`,
  release: 'Varnish 7.1.1',
  error: `Message from VCC-compiler:\n${at}\n${fill(place, textLimitBytes - 100)}`,
}))
holdsFor('another answer of each of two thousand agents', () =>
  describeFailures(otherErrors, sourceMap),
)

const bodies: Readonly<Record<string, string>> = {
  'one text': `{"a":"${fill('x', bodyLimitBytes - 10)}"}`,
  quotes: `{"a":"${fill('\\"', bodyLimitBytes / 4)}"}`,
  blanks: `{${fill(' ', bodyLimitBytes - 2)}}`,
  members: JSON.stringify(Array(100_000).fill('x'.repeat(90))),
  keys: JSON.stringify(
    Object.fromEntries(Array.from({ length: 99_000 }, (_, at) => [`k${at}`, 1])),
  ),
  depth: `[${fill(`${'['.repeat(60)}${']'.repeat(60)},`, bodyLimitBytes - 4)}1]`,
}
for (const [name, text] of Object.entries(bodies))
  holdsFor(`a JSON body of ${name}`, () => readAs('application/json', Buffer.from(text)))
const noBody = Buffer.alloc(0)
for (const type of [
  `application/json${fill(' ', headerLimitBytes)}x`,
  `application/json;${fill(' ;', headerLimitBytes)}`,
  `application/json;charset${fill(' ', headerLimitBytes)}=${fill(' ', 100)}x`,
])
  holdsFor(`a Content-Type of ${type.slice(0, 30)}`, () => readAs(type, noBody))

async function readAs(
  type: string,
  bytes: Buffer,
  bodyTypes: readonly ('json' | 'form')[] = ['json'],
): Promise<unknown> {
  const request = new IncomingMessage(new Socket())
  request.headers = { 'content-type': type, 'content-length': String(bytes.length || 1) }
  const read = readBodyType(request, bodyTypes)
  return read && parseBody(bytes, read)
}

for (const unit of ['"', ' ', ',', '"a",', 'W/"', '"a" ,  ', '=', ';a=', '\\"']) {
  const header = fill(unit, headerLimitBytes)
  holdsFor(`headers of ${JSON.stringify(unit)}`, () => {
    for (const read of [
      () => readIfMatch(header, 'file'),
      () => isUnchanged(header, '"a.b"'),
      () => readCookie({ cookie: header }, 'a'),
      () => readToken({ authorization: `Bearer${header}x` }, 'bearer'),
      () => readBasic({ authorization: `Basic ${header}` }),
      () => parsePatterns(header).map((one) => matchesPattern(one, header)),
      () => parseDomainName(header, (name) => name),
      () => selectCounters([header]),
    ])
      attempt(read)
  })
}
for (const unit of ['"\\"', '"', 'a ', '\\', '&& ', '\n'])
  holdsFor(`a ban of ${JSON.stringify(unit)}`, () =>
    parseBanExpression(fill(unit, expressionLimitBytes)),
  )
holdsFor('a list filter of many wildcards', () =>
  matchesPattern(parsePatterns(`${fill('*a', headerLimitBytes)}b`)[0] ?? [''], fill('a', 1 << 20)),
)

const shown = { value: '10', default: '10', unit: 'seconds' }
for (const unit of [' ', ' ,', '1', '+a, ', '\t'])
  holdsFor(`a parameter of ${JSON.stringify(unit)}`, () =>
    isShownAs('1x', { ...shown, value: `1${fill(unit, textLimitBytes)}x` }),
  )
for (const unit of ['a-', 'a-1-', ' ', '\n', 'a-1 revision '])
  holdsFor(`a banner of ${JSON.stringify(unit)}`, () =>
    parseBanner(`${fill(unit, messageLimitBytes)}!`),
  )

const envelope = { sequence: 1, traceId: 'abcdefgh' }
const reports: Readonly<Record<string, object>> = {
  'one text': { error: fill('x', messageLimitBytes - 500), loaded: [], failures: [] },
  NUL: { error: fill('\0', messageLimitBytes / 6 - 100), loaded: [], failures: [] },
  failures: {
    error: null,
    loaded: Array(10_000).fill('x'),
    failures: Array(10_000).fill({ program: 'cf-1-00000000-1', error: 'x'.repeat(40) }),
  },
}
for (const [name, fields] of Object.entries(reports)) {
  const outcome = { instruction: 1, revision: 1, result: 'failed', changed: true, ...fields }
  const text = JSON.stringify({ kind: 'applyReport', ...envelope, ...outcome })
  holdsFor(`a report of ${name}`, () => decodeAgentMessage(text))
  const wrong = text.replace('"changed":true', '"changed":1')
  holdsFor(`a report of ${name} with a wrong field`, () => {
    t.throws(() => decodeAgentMessage(wrong), /changed must be boolean/)
  })
}
const row = {
  time: 1,
  refs: 0,
  completed: false,
  terms: [{ field: 'req.url', operator: '~', arg: '^/a' }],
}
const bans = JSON.stringify(Array(9_000).fill(row)).slice(0, messageLimitBytes)
holdsFor('an answer with bans', () =>
  judgeAnswer({ kind: 'query', query: 'bans' }, JSON.parse(bans)),
)

const [askBans, askParams, askVcls, askWords] = [
  { kind: 'query', query: 'bans' },
  { kind: 'query', query: 'params' },
  { kind: 'query', query: 'vcls' },
  { kind: 'command' },
] as const
const { bytes: partLimitBytes } = answerPartLimits
const parameter = (value: string) => ({ value, default: '', unit: '', description: '' })
const largeAnswers: readonly (readonly [string, AskedQuestion, () => string])[] = [
  ['bans', askBans, () => `[${fill(`${JSON.stringify(row)},`, 9 << 20)}{}]`],
  ['long bans', askBans, () => `[${fill(`{"a":"${fill('\\n', 1 << 20)}"},`, answerLimitBytes)}{}]`],
  ['empty bans', askBans, () => `[${fill('{},', 490_000 * 3)}{}]`],
  [
    'one ban',
    askBans,
    () => `[{"a":[${fill('[],', 49_000 * 3)}[]]},{"a":"${fill('"', 3 << 20)}"}]`,
  ],
  ['one too large', askBans, () => `[{"a":"${fill('x', answerLimitBytes - 100)}"}]`],
  ['blanks', askBans, () => `[${fill(' ', answerLimitBytes - 2)}]`],
  ['lists', askVcls, () => `[${fill('[],', 1_000_000 * 3)}[]]`],
  ['words', askWords, () => `"${fill('\\n', partLimitBytes - 2)}"`],
  ['wide words', askWords, () => `"${fill('ä', partLimitBytes - 2)}"`],
  ['a text too large', askWords, () => `"${fill('x', answerLimitBytes - 2)}"`],
  [
    'parameters',
    askParams,
    () =>
      JSON.stringify(
        Object.fromEntries(
          Array.from({ length: 9_000 }, (_, at) => [`p${at}`, parameter('x'.repeat(400))]),
        ),
      ),
  ],
]
for (const [name, question, print] of largeAnswers)
  holdsForLarge(
    `a large answer of ${name}`,
    () => Buffer.from(print()),
    (json) => runInSteps(judgeInSteps(question, json)),
  )

const compareThread = pathToFileURL(join(root, 'dist/src/coordinator/files/compare-thread.js'))
const emptyLines = fill('\n', flattenedLimitBytes / 8)
holdsFor('a comparison of empty lines', () =>
  compareTexts(
    { name: 'a', text: emptyLines },
    { name: 'b', text: `${emptyLines}x` },
    compareThread,
  ),
)
// One organization with names of the maximum length; ten organizations on a shared cache with usual names.
const longNames = { names: 2_000, base: `${'a'.repeat(60)}.${'b'.repeat(60)}.${'c'.repeat(60)}` }
for (const { names, base } of [longNames, { names: 20_000, base: 'www' }])
  holdsForLarge(
    `a routing VCL of ${names} domains`,
    () =>
      Array.from({ length: names }, (_, at) => ({
        fqdn: `*.${base}.d${at}.example.com`,
        groupId: at + 1,
      })),
    makeRoutingVcl,
  )
for (const unit of ['{', '"" ', 'a ', 'include "x"; ', '\n', '['])
  holdsFor(`running VCL of ${JSON.stringify(unit)}`, async () => {
    const shown = [{ file: '/a.vcl', text: `vcl 4.1;\n${fill(unit, flattenedLimitBytes - 2000)}` }]
    await runInSteps(rebuildInSteps(shown, 'running'))
    await runInSteps(findLabelUse(shown))
  })
for (const unit of ['a&', 'a=1&', '%41', '+', '&'])
  holdsFor(`a form of ${JSON.stringify(unit)}`, () =>
    readAs('application/x-www-form-urlencoded', Buffer.from(fill(unit, publicBodyLimitBytes)), [
      'form',
    ]),
  )
const description = {
  name: 'edge',
  agentVersion: '1.0.0',
  capabilities: [],
  tags: [],
  coordinatorId: null,
  keyDigest: 'a'.repeat(64),
  condition: null,
}
const told: Readonly<Record<string, object>> = {
  'hello with tags': { kind: 'hello', ...description, tags: Array(90_000).fill('a') },
  'hello with a long name': { kind: 'hello', ...description, name: 'a'.repeat(1_000_000) },
  heartbeat: {
    kind: 'heartbeat',
    condition: {
      engineState: 'running',
      heldRevision: 1,
      effectiveRevision: 1,
      lockedBecause: null,
      engineError: 'ä'.repeat(500_000),
    },
  },
  samples: { kind: 'samples', at: 1, live: false, names: [], values: Array(99_000).fill(1.25) },
}
for (const [name, fields] of Object.entries(told))
  holdsFor(`a ${name}`, () => decodeAgentMessage(JSON.stringify({ ...envelope, ...fields })))
