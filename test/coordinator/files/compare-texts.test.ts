/** The limit of waiting comparisons. The comparison itself is tested in coordinator/controller, with versions of files. */
import t from 'tap'
import { compareTexts, maxWaiting } from '../../../src/coordinator/files/compare-texts.js'

void t.test('a comparison is refused when too many wait; waiting ones complete', async (t) => {
  const endsAtOnce = new URL('data:text/javascript,')
  const long = { name: 'a', text: 'x'.repeat(9_000) }
  const compare = () => compareTexts(long, { name: 'b', text: '' }, endsAtOnce)
  const begun = Array.from({ length: 1 + maxWaiting }, compare)
  await t.rejects(compare(), { kind: 'unavailable', message: /16 .* wait already/ })
  t.strictSame(
    await Promise.all(begun),
    begun.map(() => null),
    'a thread without a result gives null',
  )
  t.equal(await compare(), null, 'the next comparison is accepted')
})
