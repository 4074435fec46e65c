/** Cache releases as groups specify them. */
import fc from 'fast-check'
import t from 'tap'
import {
  isOfRelease,
  isOfReleases,
  releaseText,
  titleOfRelease,
} from '../../src/resources/cache-release.js'

const number = fc.nat({ max: 99 })
const numbers = fc.array(number, { minLength: 1, maxLength: 4 })
const product = fc.constantFrom('varnish', 'vinyl', 'edge2')

void t.test('a cache matches a release when its first numbers are the given ones', (t) => {
  const property = fc.property(
    product,
    numbers,
    product,
    numbers,
    (ofCache, version, named, few) => {
      const cache = { product: ofCache, version: version.join('.') }
      const isSame = few.every((one, at) => one === version[at])
      const found = isOfRelease(cache, `${named}-${few.join('.')}`)

      if (found !== (isSame && ofCache === named))
        throw new Error(JSON.stringify([cache, named, few]))
      if (isOfRelease(cache, few.join('.')) !== (isSame && ofCache === 'varnish'))
        throw new Error('without a name it is Varnish')
    },
  )

  fc.assert(property, { numRuns: 2000 })
  t.end()
})

void t.test('a cache’s full name is a valid release and matches the cache', (t) => {
  const property = fc.property(product, numbers, (ofCache, version) => {
    const cache = { product: ofCache, version: version.join('.') }
    const whole = `${ofCache}-${cache.version}`
    if (!releaseText.pattern.test(whole) || !isOfRelease(cache, whole)) throw new Error(whole)
    if (!isOfReleases(cache, null) || isOfReleases(cache, [])) throw new Error('null is any')
    if (!isOfReleases(cache, ['6.9999', whole])) throw new Error('one of them is enough')
  })

  fc.assert(property)
  t.end()
})

void t.test('similar releases are distinguished', (t) => {
  const varnish = (version: string) => ({ product: 'varnish', version })
  t.ok(isOfRelease(varnish('6.0.17'), '6.0'))
  t.notOk(isOfRelease(varnish('6.5.1'), '6.0'))
  t.ok(isOfRelease(varnish('7.7.0'), '7'))
  t.notOk(isOfRelease(varnish('70.1.0'), '7'))
  t.notOk(isOfRelease(varnish('6.01'), '6.0'))
  t.ok(isOfRelease(varnish('6.0.13r2'), '6.0.13'), 'with a packager’s suffix')
  t.ok(isOfRelease({ product: 'vinyl', version: '9.0.1' }, 'vinyl-9.0'))
  t.notOk(isOfRelease({ product: 'vinyl', version: '9.0.1' }, '9'))
  t.ok(isOfRelease({ product: 'edge', version: '2.1' }, 'edge-2'), 'a cache of another vendor')
  t.notOk(isOfRelease({ product: '', version: '' }, '7'), 'not reached yet')
  for (const wrong of [
    '',
    'v7',
    '7.',
    '7.x',
    'trunk',
    'vinyl',
    'vinyl-',
    'Vinyl-9',
    '07',
    '7 ',
    '7.1.1.1.1',
  ])
    t.notOk(releaseText.pattern.test(wrong), wrong)

  t.equal(titleOfRelease(varnish('6.0.17')), 'Varnish 6.0.17')
  t.equal(titleOfRelease({ product: 'vinyl', version: '9.0.1' }), 'Vinyl 9.0.1')
  t.equal(titleOfRelease({ product: '', version: '' }), null)
  t.end()
})
