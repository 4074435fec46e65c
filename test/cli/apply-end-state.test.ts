/** A run of `apply` ends with the state of the fleet, even if it changed nothing. */
import fc from 'fast-check'
import t from 'tap'
import { judgeEndStates } from '../../src/cli/apply/end-state.js'

const worstFirst = ['Error', 'Deploying', 'Degraded', 'Active'] as const
const codes = { Error: 1, Deploying: 4, Degraded: 3, Active: 0 } as const

function group(stateName: string, errors: readonly string[] = []) {
  const places = errors.map((error, at) => {
    return { agentId: at, agentName: `edge-${at}`, state: 'failed', revision: null, error }
  })
  return { name: 'site', stateName, revision: 1, places }
}

void t.test('the worst state of a deployed group decides the exit code', (t) => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...worstFirst), { minLength: 1 }), (states) => {
      const worst = worstFirst.find((state) => states.includes(state)) ?? 'Active'
      const ended = judgeEndStates(states.map((state) => group(state)))
      return (ended?.exitCode ?? 0) === codes[worst]
    }),
  )
  t.equal(judgeEndStates([]), null, 'no group is deployed')
  t.end()
})

void t.test('each group that is not Active is named with its failures', (t) => {
  const errors = Array.from({ length: 7 }, (_, at) => `line ${at}\nmore`)
  t.match(judgeEndStates([group('Active'), group('Degraded', errors)]), {
    message: /^site is Degraded \(edge-0: line 0; .*edge-4: line 4; and 2 more\)$/,
  })
  t.end()
})
