/** What the views of certificates decide without a browser: when a certificate must be renewed, and which field takes a key. */
import fc from 'fast-check'
import t from 'tap'
import { judgeExpiry, soonDays } from '../../src/page/views/certificates/judge-expiry.js'
import { moveKey } from '../../src/page/views/certificates/move-key.js'

const dayMs = 86_400_000
const anyTime = fc.integer({ min: 0, max: 4e12 })
const anySpan = fc.integer({ min: 1, max: 4000 * dayMs })

void t.test('expired and expiring certificates show the time in whole units', (t) => {
  const at = (leftMs: number) => judgeExpiry(leftMs, 0)
  t.equal(at(soonDays * dayMs + 1), null)
  t.same(at(soonDays * dayMs), { words: 'expires in 21 days', tone: 'warn' })
  t.same(at(2 * dayMs - 1), { words: 'expires in 1 day', tone: 'warn' })
  t.same(at(dayMs - 1), { words: 'expires in 23 hours', tone: 'warn' })
  t.same(at(1), { words: 'expires in less than an hour', tone: 'warn' })
  t.same(at(0), { words: 'expired less than an hour ago', tone: 'bad' })
  t.same(at(-3 * dayMs), { words: 'expired 3 days ago', tone: 'bad' })
  t.end()
})

void t.test(
  'a certificate is marked bad from its expiry on, and not marked before the last days',
  (t) => {
    fc.assert(
      fc.property(anyTime, anySpan, (notAfter, span) => {
        const [before, after] = [
          judgeExpiry(notAfter, notAfter - span),
          judgeExpiry(notAfter, notAfter + span),
        ]
        return after?.tone === 'bad' && (before === null) === span > soonDays * dayMs
      }),
    )
    t.end()
  },
)

const anyLabel = fc.constantFrom('CERTIFICATE', 'PRIVATE KEY', 'EC PRIVATE KEY', 'RSA PRIVATE KEY')
const anyBody = fc.base64String({ minLength: 4, maxLength: 64 })
const anyBlocks = fc.array(fc.tuple(anyLabel, anyBody), { maxLength: 5 })

void t.test('every key is moved out of the chain, and nothing of either is lost', (t) => {
  fc.assert(
    fc.property(anyBlocks, (parts) => {
      const blocks = parts.map(([label, body]) => ({
        isKey: label !== 'CERTIFICATE',
        text: `-----BEGIN ${label}-----\n${body}\n-----END ${label}-----\n`,
      }))
      const join = (isKey: boolean) =>
        blocks.flatMap((one) => (one.isKey === isKey ? one.text : [])).join('')
      const moved = moveKey(blocks.map(({ text }) => text).join(''))
      if (!blocks.some(({ isKey }) => isKey)) return moved === null
      return moved?.chain === join(false) && moved.key === join(true)
    }),
  )
  t.end()
})
