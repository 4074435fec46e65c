/** Which addresses count as one caller. */
import { isIPv6 } from 'node:net'
import fc from 'fast-check'
import t from 'tap'
import { networkOf } from '../src/source-network.js'

const groups = fc.array(fc.integer({ min: 0, max: 0xffff }), { minLength: 4, maxLength: 4 })
const write = (parts: readonly number[]): string => parts.map((part) => part.toString(16)).join(':')

void t.test('an IPv4 address counts alone, in each of its notations', (t) => {
  fc.assert(
    fc.property(fc.ipV4(), (address) => {
      t.equal(networkOf(address), address)
      t.equal(networkOf(`::ffff:${address}`), address)
      t.equal(networkOf(`::FFFF:${address}`), address)
    }),
  )
  t.end()
})

void t.test('two IPv6 addresses count as one exactly when they share their /64', (t) => {
  fc.assert(
    fc.property(groups, groups, groups, (network, one, other) => {
      // Groups of zeros that Node would shorten are written in full here.
      const [a, b] = [`${write(network)}:${write(one)}`, `${write(network)}:${write(other)}`]
      t.ok(isIPv6(a))
      t.equal(networkOf(a), networkOf(b))
      t.equal(networkOf(a), write(network))
    }),
  )
  t.equal(networkOf('2001:db8::1'), networkOf('2001:db8:0:0:9::'))
  t.not(networkOf('2001:db8::1'), networkOf('2001:db8:0:1::1'))
  t.equal(networkOf('::1'), '0:0:0:0')
  t.equal(networkOf('fe80::1%eth0'), networkOf('fe80::2%eth1'))
  t.end()
})

void t.test('text that is no address is returned unchanged', (t) => {
  for (const text of ['', 'unknown', '192.0.2.7:4711', '_hidden']) t.equal(networkOf(text), text)
  fc.assert(
    fc.property(fc.string(), (text) => {
      t.ok(networkOf(text).length <= text.length + 8)
    }),
  )
  t.end()
})
