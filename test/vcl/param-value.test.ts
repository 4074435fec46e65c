/** Whether a shown parameter value equals the desired one. */
import fc from 'fast-check'
import t from 'tap'
import { isShownAs } from '../../src/vcl/param-value.js'

const shownAs = (wanted: string, value: string, unit = '', standard = 'none of these') =>
  isShownAs(wanted, { value, default: standard, unit })

/** As 7.1.1 prints them; some of the bits as 7.6 does. */
const same: readonly (readonly [wanted: string, shown: string, unit?: string])[] = [
  ['10', '10.000', 'seconds'],
  ['10m', '10.000', 'seconds'],
  ['10m', '600.000', 'seconds'],
  ['0.5s', '0.500', 'seconds'],
  ['1w', '604800.000', 'seconds'],
  ['65536', '64k', 'bytes'],
  ['64KB', '64k', 'bytes'],
  ['1280', '1.25k', 'bytes'],
  ['0.5m', '512k', 'bytes'],
  ['100b', '100b', 'bytes'],
  ['0x10', '16'],
  ['UNLIMITED', 'unlimited'],
  ['yes', 'on', 'bool'],
  ['Disable', 'off', 'bool'],
  ['10, 100, 10', '10,100,10'],
  ['+http2', '+http2,+long_ttl'],
  ['+http2,-trace', 'none,+http2'],
  ['-Debug', '-Debug,-WorkThread'],
  ['+Hash', '-Debug,-WorkThread'],
  ['-http2', 'all,-http2'],
  ['default', 'none of these'],
]

const other: readonly (readonly [wanted: string, shown: string, unit?: string])[] = [
  ['10', '100.000', 'seconds'],
  ['10', '10.100', 'seconds'],
  ['64', '64k', 'bytes'],
  ['64k', '64m', 'bytes'],
  ['on', 'off', 'bool'],
  ['10', 'unlimited'],
  ['10,100,10', '10,100,11'],
  ['+http2', 'none'],
  ['-http2', '+http2'],
  ['+Debug', '-Debug'],
  ['default', '10.000', 'seconds'],
  ['10', ''],
]

void t.test('a value in the cache’s own format equals the desired one', (t) => {
  for (const [wanted, value, unit] of same)
    t.ok(shownAs(wanted, value, unit), `${wanted} is ${value}`)
  t.end()
})

void t.test('another value differs', (t) => {
  for (const [wanted, value, unit] of other)
    t.notOk(shownAs(wanted, value, unit), `${wanted} is not ${value}`)
  t.end()
})

void t.test('every text equals itself', (t) => {
  fc.assert(fc.property(fc.string(), (text) => text === 'default' || shownAs(text, text)))
  t.end()
})

void t.test('numbers differ when their printed digits differ', (t) => {
  const thousandths = fc.integer({ min: 0, max: 1_000_000 })
  fc.assert(
    fc.property(thousandths, thousandths, (a, b) => {
      const isSame = shownAs(String(a / 1000), (b / 1000).toFixed(3), 'seconds')
      return a === b ? isSame : Math.abs(a - b) <= 10 || !isSame
    }),
  )
  t.end()
})
