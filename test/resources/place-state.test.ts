/** The agent's state overrides what a place was last. */
import fc from 'fast-check'
import t from 'tap'
import { agentStates } from '../../src/resources/agent-state.js'
import { placeStateName } from '../../src/resources/place-state.js'

const states = fc.constantFrom('wanted', 'applying', 'switching', 'loaded', 'applied', 'failed')

void t.test('a Down agent has nothing applied or on its way', (t) => {
  fc.assert(fc.property(states, (state) => placeStateName(state, agentStates.Down) === 'Down'))
  t.end()
})

void t.test('a place on an agent that is well, or not known, is as it says', (t) => {
  const well = fc.constantFrom(undefined, agentStates.Running, agentStates.ReadOnly)
  fc.assert(fc.property(states, well, (state, agent) => placeStateName(state, agent) === state))
  t.end()
})

void t.test('a cache that fails serves nothing, but why it refused a text is still told', (t) => {
  t.equal(placeStateName('applied', agentStates.Failing), 'Failing')
  t.equal(placeStateName('applying', agentStates.Locked), 'Locked')
  t.equal(placeStateName('failed', agentStates.Failing), 'failed')
  t.end()
})
