/** The gates of a rollout: figures now, before and elsewhere, and the verdicts. */
import type { GateResult } from '../../../../resources/rollout.js'
import { startSentence } from '../../../parts/start-sentence.js'
import { StateChip } from '../../../parts/state-chip.js'
import { formatFigure, nameGate, sortGates } from './describe-rollout.js'

const figures = [
  ['Observed', 'observed'],
  ['Limit', 'limit'],
  ['Baseline', 'baseline'],
  ['Control', 'control'],
] as const

export function Gates({ gates }: { readonly gates: readonly GateResult[] }) {
  if (gates.length === 0) return <p class="quiet">No gate has judged yet.</p>
  return (
    <div class="rollout-gates" tabIndex={0} role="region" aria-label="Gates">
      <table class="group-figures">
        <thead>
          <tr>
            <th scope="col">Gate</th>
            <th scope="col">Verdict</th>
            {figures.map(([title]) => (
              <th scope="col" key={title}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {sortGates(gates).map((gate) => (
            <Gate key={`${gates.indexOf(gate)} ${gate.agent?.id ?? ''}`} gate={gate} />
          ))}
        </tbody>
      </table>
    </div>
  )
}

function Gate({ gate }: { readonly gate: GateResult }) {
  const { name, agent, verdict, reason } = gate
  return (
    <tr>
      <th scope="row">
        {nameGate(name)}
        <span class="quiet"> on {agent ? agent.name : 'all'}</span>
        {reason !== null && <p class="rollout-reason">{startSentence(reason)}</p>}
      </th>
      <td>
        <StateChip state={verdict} />
      </td>
      {figures.map(([title, key]) => (
        <td key={title}>{formatFigure(name, gate[key])}</td>
      ))}
    </tr>
  )
}
