/** What the administration page decides without a browser: grants and the calls that make them, and commands to paste on hosts. */
import { execFileSync } from 'node:child_process'
import fc from 'fast-check'
import t from 'tap'
import type { ApiLogEntry } from '../../src/resources/api-log-entry.js'
import {
  enrolHost,
  quoteForShell,
  startAgent,
  toLinkUrl,
  writeTokenFile,
} from '../../src/page/views/administration/enrolment.js'
import {
  grantTypes,
  planGrantCalls,
  revertGrants,
  setGrant,
} from '../../src/page/views/administration/grants.js'
import {
  joinEntries,
  filterEntries,
  formatCall,
  formatObject,
  formatStatus,
  type CallKind,
} from '../../src/page/views/administration/filter-entries.js'
import { toExpiry } from '../../src/page/views/administration/lifetime.js'
import {
  isSameGrants,
  permissionTypes,
  toGrants,
  toPermissions,
  type Grants,
} from '../../src/resources/permission.js'

const types = grantTypes.map(({ type }) => type)
const anyType = fc.constantFrom(...types)
const anyAccess = fc.constantFrom('read', 'write')
const anyGrants: fc.Arbitrary<Grants> = fc
  .array(fc.tuple(anyType, anyAccess))
  .map((pairs) => Object.fromEntries(pairs))

void t.test('the grid lists each type of permission once', (t) => {
  t.same([...types].sort(), [...permissionTypes].sort())
  t.end()
})

void t.test('grants remain the same when converted to permissions and back', (t) => {
  fc.assert(
    fc.property(anyGrants, (grants) => isSameGrants(toGrants(toPermissions(grants)), grants)),
  )
  t.end()
})

void t.test('a toggled check box shows its new value, and no other type changes', (t) => {
  fc.assert(
    fc.property(anyGrants, anyType, anyAccess, fc.boolean(), (before, type, access, isOn) => {
      const after = setGrant(before, type, access, isOn)
      const allowed = after[type] === 'write' || after[type] === access
      const others = types.filter((one) => one !== type)
      return allowed === isOn && others.every((one) => before[one] === after[one])
    }),
  )
  t.end()
})

void t.test('the planned calls lead from any permissions to any grants, one per type', (t) => {
  fc.assert(
    fc.property(anyGrants, anyGrants, (before, wanted) => {
      const user = { account: { id: 7 }, organization: { id: 8 } }
      const rows = new Map(
        toPermissions(before).map(({ type, write }, place) => [place + 1, { type, write }]),
      )
      const known = [...rows].map(([id, row]) => ({ id, ...row }))
      const calls = planGrantCalls(known, wanted, user)
      for (const { method, path, body } of calls) {
        const id = Number(path.split('/')[2])
        const row = rows.get(id)
        if (method === 'DELETE') rows.delete(id)
        else if (method === 'PUT' && row) rows.set(id, { ...row, ...body })
        else rows.set(100 + rows.size, body as { type: (typeof types)[number]; write: boolean })
      }
      const made = toGrants([...rows.values()].map((row) => ({ ...row, read: true })))
      return isSameGrants(made, wanted) && calls.length <= types.length
    }),
  )
  t.end()
})

void t.test('undo restores one’s own changes and keeps later changes of others', (t) => {
  fc.assert(
    fc.property(anyGrants, anyGrants, anyGrants, (before, after, now) => {
      const reverted = revertGrants(now, { before, after })
      return types.every((type) =>
        now[type] === after[type] ? reverted[type] === before[type] : reverted[type] === now[type],
      )
    }),
  )
  t.end()
})

void t.test('any tag name is quoted as one word of a shell', (t) => {
  fc.assert(
    fc.property(fc.string({ maxLength: 40 }), (word) => {
      fc.pre(!word.includes('\0'))
      const printed = execFileSync('sh', ['-c', `printf %s ${quoteForShell(word)}`])
      return printed.toString() === word
    }),
    { numRuns: 30, examples: [['$(id)'], ["it's"], ['`id`'], ['a b'], ['\\'], ['"'], ['']] },
  )
  t.end()
})

void t.test('a command for a host holds the address; only the file holds the token', (t) => {
  const enrolment = {
    origin: 'https://fleet.example:8002',
    token: 'secret',
    tags: ['a b', 'x,y', '$c'],
  }
  t.equal(toLinkUrl(enrolment.origin), 'wss://fleet.example:8002')
  t.equal(toLinkUrl('http://127.0.0.1:80'), 'ws://127.0.0.1:80')
  t.match(writeTokenFile(enrolment), /^secret$/m)
  const byHand = startAgent(enrolment)
  t.match(byHand, "--tags 'a b,$c'")
  t.notMatch(byHand, /secret|x,y/)
  t.equal(
    enrolHost(enrolment),
    "cachefleetd enroll https://fleet.example:8002 <<'END'\nsecret\nEND",
  )
  t.end()
})

void t.test('an expiry is a positive number of days from now', (t) => {
  t.equal(toExpiry('2', 1_000_000), 1_000 + 2 * 86_400)
  for (const text of ['', ' ', '0', '-1', 'x', 'Infinity']) t.equal(toExpiry(text, 0), null, text)
  t.end()
})

const entry: ApiLogEntry = {
  id: 1,
  created: '2026-01-02T03:04:05.678Z',
  msg: 'Creates a tag',
  keyType: 'tag',
  keyId: 7,
  traceId: 'Trace-of-a-call',
  account: 'anna',
  method: 'POST',
  path: '/api/v1/tags',
  status: 201,
  asksOnly: false,
  severity: 1,
}
const drift: ApiLogEntry = {
  ...entry,
  id: 2,
  msg: 'agent edge-1 found x',
  method: '',
  path: '',
  severity: 2,
}
const login = { ...entry, id: 4, path: '/api/v1/auth/login', keyType: 'session', keyId: null }
const preview = { ...entry, id: 3, path: '/api/v1/invalidations/preview', asksOnly: true }

const entries = [entry, drift, preview, login]

void t.test('the log shows changes, logins and queries if asked for, and whole traces', (t) => {
  const names = new Map([['tag 7', 'web']])
  const pick = (text: string, calls: CallKind = '', severity = '') =>
    filterEntries(entries, { text, severity, calls, names }).map(({ id }) => id)

  t.same(pick(''), [1, 2])
  t.same(pick('', 'all'), [1, 2, 3, 4])
  t.same(pick('', 'logins'), [4])
  t.same(pick('tag web'), [1, 2], 'by its name')
  t.same(pick('trace-of-a-call'), [1, 2, 3, 4])
  t.same(pick('trace-of-a'), [1, 2])
  t.same(pick('post /tags'), [1])
  t.same(pick('', 'all', '2'), [2])
  t.equal(joinEntries([entry, drift], []).length, 2)
  t.same(joinEntries([entry, drift], [preview, entry]), [entry, drift, preview])
  t.end()
})

void t.test('a message of an agent, which is no call, is shown in its own words', (t) => {
  t.same([formatCall(entry), formatStatus(entry)], ['POST /tags', '201'])
  t.equal(formatObject(entry, new Map([['tag 7', 'web']])), 'tag web')
  t.equal(formatObject(entry, new Map()), 'tag 7', 'deleted')
  t.same([formatCall(drift), formatStatus(drift)], ['agent edge-1 found x', 'Warning'])
  t.equal(formatCall({ ...entry, path: '/api/v10' }), 'POST /api/v10')
  t.end()
})
