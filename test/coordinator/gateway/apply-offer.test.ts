/** When an agent is sent its desired state, case by case. */
import t from 'tap'
import { needsApply } from '../../../src/coordinator/gateway/apply-offer.js'

await t.test('the coordinator sends an agent its desired state', (t) => {
  const recorded = { desiredRevision: 5, recordedRevision: 5 }
  const behind = { desiredRevision: 5, recordedRevision: 4 }
  const at = (heldRevision: number, effectiveRevision: number) => ({
    heldRevision,
    effectiveRevision,
  })
  const unanswered = { revision: 5, sentAtMs: 1000, times: 1, answer: null }
  const sent = (times: number) => ({ ...unanswered, times })
  const answered = { ...unanswered, answer: { atMs: 2000, isRefusal: false } }
  const refused = { ...unanswered, answer: { atMs: 2000, isRefusal: true } }
  const cases: readonly (readonly [string, boolean, ...Parameters<typeof needsApply>])[] = [
    ['never when it holds it and that is recorded', false, at(5, 5), null, recorded, 0],
    ['when it is behind', true, at(4, 4), null, behind, 0],
    ['when its report got lost', true, at(5, 5), null, behind, 0],
    ['when it holds a later one of another time', true, at(9, 9), null, recorded, 0],
    [
      'when the last one sent was another',
      true,
      at(4, 4),
      { ...unanswered, revision: 4 },
      behind,
      0,
    ],
    ['not twice while the answer is due', false, at(4, 4), unanswered, behind, 10_999],
    ['again when it never got it', true, at(4, 4), unanswered, behind, 11_000],
    ['a third time after twice that', false, at(4, 4), sent(2), behind, 20_999],
    ['a third time then', true, at(4, 4), sent(2), behind, 21_000],
    ['not more seldom than a load may take', true, at(4, 4), sent(1000), behind, 151_000],
    ['never sooner then', false, at(4, 4), sent(1000), behind, 150_999],
    ['not again while it loads', false, at(5, 4), unanswered, behind, 150_999],
    ['again when it loads for ever', true, at(5, 4), unanswered, behind, 151_000],
    ['not again after it failed: it heals by itself', false, at(5, 4), answered, behind, 1e9],
    ['again when it has healed', true, at(5, 5), answered, behind, 12_000],
    ['not at once when it has healed', false, at(5, 5), answered, behind, 11_999],
    ['again some time after a refusal', true, at(4, 4), refused, behind, 12_000],
  ]
  for (const [name, expected, ...input] of cases) t.equal(needsApply(...input), expected, name)
  t.end()
})
