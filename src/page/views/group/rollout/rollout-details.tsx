/** One rollout: its waves, its gates, and their figures over its duration. */
import type { Rollout } from '../../../../resources/rollout.js'
import { LoadedPart } from '../../../parts/loaded-part.js'
import { Loading } from '../../../parts/loading.js'
import { mayRead } from '../../../session/rights.js'
import { Gates } from './gates.js'
import { useWhole } from './use-rollouts.js'
import { Waves } from './waves.js'

export function RolloutDetails({ rollout }: { readonly rollout: Rollout }) {
  const whole = useWhole(rollout)
  return (
    <div class="stack">
      {whole ? <Waves rollout={whole} /> : <Loading />}
      <h3>Gates</h3>
      <Gates gates={rollout.gates} />
      {mayRead('stats') && rollout.wave > 0 && (
        <LoadedPart
          name="Charts"
          load={async () => (await import('./rollout-charts.js')).RolloutCharts}
          props={{ rollout }}
        />
      )}
    </div>
  )
}
