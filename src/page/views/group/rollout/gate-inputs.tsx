/** The gates of a policy: what each watches, and its limits. */
import { gateNames, maxGates } from '../../../../resources/rollout.js'
import type { Webhook } from '../../../../resources/webhook.js'
import type { Group } from '../../../../resources/vclgroup.js'
import type { CallError } from '../../../api/http.js'
import { useList } from '../../../api/list.js'
import { Button } from '../../../parts/button.js'
import { SelectField, TextField } from '../../../parts/field.js'
import { filterOwned } from '../../../parts/filter-owned.js'
import { isAbout } from '../../../parts/is-about.js'
import { startSentence } from '../../../parts/start-sentence.js'
import { mayRead } from '../../../session/rights.js'
import { nameGate } from './describe-rollout.js'
import { listShownInputs } from './policy-fields.js'
import type { GateRow, PolicyForm } from './use-policy-form.js'

interface GateInputsProps {
  readonly form: PolicyForm
  readonly error: CallError | null
  readonly owner: Group['organization']
}

export function GateInputs({ form, error, owner }: GateInputsProps) {
  const { gates } = form
  const offered = gateNames.filter(
    (name) => name !== 'restarts' && (name !== 'webhook' || mayRead('webhook')),
  )
  return (
    <fieldset class="pick">
      <legend class="field-label">Gates</legend>
      {gates.value.map((row, at) => (
        <OneGate
          key={row.key}
          row={row}
          at={at}
          error={error}
          owner={owner}
          remove={() => {
            gates.value = gates.value.filter((one) => one !== row)
          }}
        />
      ))}
      <p class="field-hint">Restarts are always watched. What is empty is as shown in grey.</p>
      {gates.value.length < maxGates && (
        <div class="row" role="group" aria-label="Add a gate">
          {offered.map((name) => (
            <Button
              key={name}
              onClick={() => {
                form.addGate(name)
              }}
            >
              + {nameGate(name)}
            </Button>
          ))}
        </div>
      )}
    </fieldset>
  )
}

interface OneGateProps extends Pick<GateInputsProps, 'error' | 'owner'> {
  readonly row: GateRow
  readonly at: number
  readonly remove: () => void
}

function OneGate({ row, at, error, owner, remove }: OneGateProps) {
  const { name, texts } = row
  const inputs = listShownInputs(name).map((input) => ({
    ...input,
    place: findPlace(error, `rollout.gates[${at}]`, input.key),
  }))
  const isShownAtInput = inputs.some(({ place }) => isAbout(error, place))
  const isWrong = !isShownAtInput && isAbout(error, `rollout.gates[${at}]`)
  return (
    <div class="rollout-gate" role="group" aria-label={`Gate ${nameGate(name)}`}>
      <div class="rollout-gate-head">
        <b>{nameGate(name)}</b>
        <Button
          icon="remove"
          kind="quiet"
          label={`Remove gate ${nameGate(name)}`}
          onClick={remove}
        />
      </div>
      <div class="rollout-row">
        {inputs.map(({ key, label, usual, place }) => {
          const value = texts[key]
          if (!value) return null
          const shared = { label, value, name: place, error }
          if (key === 'webhook') return <WebhookInput key={key} {...shared} owner={owner} />
          return <TextField key={key} {...shared} placeholder={usual} />
        })}
      </div>
      {isWrong && (
        <p class="field-wrong" role="alert">
          {startSentence(error?.errorMsg ?? '')}
        </p>
      )}
    </div>
  )
}

/** Returns the name an error uses for a gate's input: the schema's path, or the label used by the rules behind it. */
function findPlace(error: CallError | null, gate: string, key: string): string {
  const label = `${gate}: ${key}`
  return isAbout(error, label) ? label : `${gate}.${key}`
}

type WebhookInputProps = Pick<GateInputsProps, 'error' | 'owner'> & {
  readonly label: string
  readonly name: string
  readonly value: GateRow['texts'][string]
}

function WebhookInput({ owner, ...field }: WebhookInputProps) {
  const { rows } = useList<Webhook>(mayRead('webhook') ? '/webhooks' : null)
  const options = filterOwned(rows, owner).map(({ id, name }) => ({
    value: String(id),
    title: name,
  }))
  return <SelectField {...field} options={[{ value: '', title: 'choose one' }, ...options]} />
}
