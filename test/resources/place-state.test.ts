/** The agent's state overrides the last state of a place. */
import fc from 'fast-check'
import t from 'tap'
import { agentStates } from '../../src/resources/agent-state.js'
import { placeStateName } from '../../src/resources/place-state.js'

const states = fc.constantFrom('wanted', 'applying', 'switching', 'loaded', 'applied', 'failed')

void t.test('on a Down agent nothing is applied or in progress', (t) => {
  fc.assert(fc.property(states, (state) => placeStateName(state, agentStates.Down) === 'Down'))
  t.end()
})

void t.test('on a healthy or unknown agent a place keeps its state', (t) => {
  const well = fc.constantFrom(undefined, agentStates.Running, agentStates.ReadOnly)
  fc.assert(fc.property(states, well, (state, agent) => placeStateName(state, agent) === state))
  t.end()
})

void t.test('on a failing cache nothing serves, but a failed place stays failed', (t) => {
  t.equal(placeStateName('applied', agentStates.Failing), 'Failing')
  t.equal(placeStateName('applying', agentStates.Locked), 'Locked')
  t.equal(placeStateName('failed', agentStates.Failing), 'failed')
  t.end()
})
