/** Who comes when too many comparisons wait. The comparison itself: coordinator/controller, in versions of files. */
import t from 'tap'
import { compareTexts, waitingMost } from '../../../src/coordinator/files/compare-texts.js'

void t.test('a comparison is refused when too many wait, and those that wait end', async (t) => {
  const endsAtOnce = new URL('data:text/javascript,')
  const long = { name: 'a', text: 'x'.repeat(9_000) }
  const compare = () => compareTexts(long, { name: 'b', text: '' }, endsAtOnce)
  const begun = Array.from({ length: 1 + waitingMost }, compare)
  await t.rejects(compare(), { kind: 'unavailable', message: /16 .* wait already/ })
  t.strictSame(
    await Promise.all(begun),
    begun.map(() => null),
    'a thread that said nothing: null',
  )
  t.equal(await compare(), null, 'then there is room again')
})
