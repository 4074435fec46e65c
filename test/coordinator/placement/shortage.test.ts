/** Messages about too few agents. */
import t from 'tap'
import { agentStates } from '../../../src/resources/agent-state.js'
import { describeShortages } from '../../../src/coordinator/placement/shortage.js'

void t.test('the message of a console group names its caches, not tags', (t) => {
  const describe = (fitting: number): string | undefined => {
    const shortage = {
      deploymentId: 7,
      min: 1,
      placed: 0,
      wouldSufficeWithConflicting: false,
      fitting,
      states: fitting === 0 ? [] : [{ state: agentStates.Down, count: fitting }],
      conflicts: [],
    }
    const decision = {
      keep: [],
      moving: [],
      add: [],
      waiting: [],
      remove: [],
      replaced: [],
      shortages: [shortage],
    }
    return describeShortages(decision, [{ id: 7, name: null }], { agents: [] })?.message
  }
  const begin = 'the group needs 1 running cache, 0 of its caches can be used'
  t.equal(describe(2), `${begin}: it has 2, 2 are Down`)
  t.equal(describe(0), `${begin}: it has none`)
  t.end()
})
