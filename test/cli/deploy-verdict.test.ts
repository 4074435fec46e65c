/** How caches without the new release are described after a deploy. */
import t from 'tap'
import { readGroup, shownState } from '../../src/cli/deploy-verdict.js'
import { agentStates } from '../../src/resources/agent-state.js'

void t.test('an agent that is gone applies nothing, whatever its last state', (t) => {
  const place = (id: number, state: string) => ({ agent: { id, name: `edge-${id}` }, state })
  const { places } = readGroup({
    agentStates: [
      place(1, 'applied'),
      place(2, 'applying'),
      place(3, 'failed'),
      place(4, 'wanted'),
    ],
  })
  const ill = new Map([
    [2, agentStates.Down],
    [3, agentStates.Failing],
    [4, agentStates.Locked],
  ])
  t.same(
    places.map((one) => shownState(one, ill)),
    ['applied', 'Down', 'failed', 'Locked'],
  )
  t.end()
})
