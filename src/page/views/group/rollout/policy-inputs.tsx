/** The inputs of a policy: the waves of a deploy, the bake time of each, and the conditions of a rollback. */
import { maxBakeSeconds, maxWaves } from '../../../../resources/rollout.js'
import type { Group } from '../../../../resources/vclgroup.js'
import type { CallError } from '../../../api/http.js'
import { Button } from '../../../parts/button.js'
import { CheckField, SelectField, TextField } from '../../../parts/field.js'
import { GateInputs } from './gate-inputs.js'
import type { PolicyForm } from './use-policy-form.js'
import { WaveInputs } from './wave-inputs.js'

interface PolicyInputsProps {
  readonly form: PolicyForm
  readonly error: CallError | null
  /** The organization whose tags and webhooks may be used. */
  readonly owner: Group['organization']
}

export function PolicyInputs({ form, error, owner }: PolicyInputsProps) {
  const { waves } = form
  return (
    <div class="stack" role="group" aria-label="Rollout policy">
      <fieldset class="pick">
        <legend class="field-label">Waves</legend>
        {waves.value.map((row, at) => (
          <WaveInputs
            key={row.key}
            row={row}
            at={at}
            error={error}
            owner={owner}
            remove={() => {
              waves.value = waves.value.filter((one) => one !== row)
            }}
          />
        ))}
        <p class="field-hint">
          Numbers are totals and grow: 1, then 10 %, then 50 %. The rest is one last wave.
        </p>
        {waves.value.length < maxWaves && (
          <div>
            <Button onClick={form.addWave}>Add wave</Button>
          </div>
        )}
      </fieldset>
      <div class="group-choices">
        <TextField
          label="Observe each wave for, seconds"
          name="rollout.bake"
          error={error}
          value={form.bake}
          placeholder="60"
          hint={`0 to ${maxBakeSeconds}`}
        />
        <TextField
          label="At most, seconds"
          name="rollout.maxBake"
          error={error}
          value={form.maxBake}
          placeholder="the same"
          hint="While a gate is inconclusive"
        />
        <SelectField label="If a gate fails" value={form.onFailure} options={failureChoices} />
        <SelectField
          label="If gates stay inconclusive"
          value={form.onInconclusive}
          options={inconclusiveChoices}
        />
      </div>
      <GateInputs form={form} error={error} owner={owner} />
      <CheckField
        label="Ban the group's objects on caches that go back"
        hint="What the bad VCL stored would stay otherwise"
        value={form.banOnRollback}
      />
    </div>
  )
}

/** The API's names of the inputs, to show an error at its input. */
export function listPolicyNames({ waves, gates }: PolicyForm): readonly string[] {
  return [
    ...['rollout.bake', 'rollout.maxBake'],
    ...waves.value.map((_, at) => `rollout.waves[${at}]`),
    ...gates.value.map((_, at) => `rollout.gates[${at}]`),
  ]
}

const failureChoices = [
  { value: 'rollback', title: 'go back' },
  { value: 'pause', title: 'pause' },
]
const inconclusiveChoices = [
  { value: 'continue', title: 'continue' },
  { value: 'pause', title: 'pause' },
]
