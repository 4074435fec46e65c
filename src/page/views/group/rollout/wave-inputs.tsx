/** One wave of a policy: the number of its caches, or which caches. */
import type { Tag } from '../../../../resources/tag.js'
import type { Group } from '../../../../resources/vclgroup.js'
import type { CallError } from '../../../api/http.js'
import { useList } from '../../../api/list.js'
import { Button } from '../../../parts/button.js'
import { SelectField, TextField } from '../../../parts/field.js'
import { filterOwned } from '../../../parts/filter-owned.js'
import { PickField } from '../../../parts/pick-field.js'
import { formatCount } from '../../../parts/quantity.js'
import { mayRead } from '../../../session/rights.js'
import type { WaveRow } from './use-policy-form.js'

interface WaveInputsProps {
  readonly row: WaveRow
  readonly at: number
  readonly error: CallError | null
  readonly owner: Group['organization']
  readonly remove: () => void
}

export function WaveInputs({ row, at, error, owner, remove }: WaveInputsProps) {
  const { kind, amount, ids } = row
  const name = `rollout.waves[${at}]`
  const number = at + 1
  const isCounted = kind.value === 'count' || kind.value === 'percent'
  return (
    <div class="rollout-wave">
      <SelectField label={`Wave ${number}`} value={kind} options={listKinds(kind.value)} />
      {isCounted && (
        <TextField
          label={kind.value === 'count' ? 'Caches' : '% of the caches'}
          name={name}
          error={error}
          value={amount}
          required
        />
      )}
      {kind.value === 'tags' && <TagInput name={name} error={error} owner={owner} value={ids} />}
      {kind.value === 'agents' && (
        <p class="quiet">{formatCount(ids.value.length)} named; then it pauses</p>
      )}
      <Button icon="remove" kind="quiet" label={`Remove wave ${number}`} onClick={remove} />
    </div>
  )
}

/** Only API clients name single caches; here such a wave can only be kept or removed. */
function listKinds(now: string) {
  return [
    { value: 'count', title: 'a number of caches' },
    { value: 'percent', title: 'a share of the caches' },
    ...(mayRead('tag') || now === 'tags' ? [{ value: 'tags', title: 'caches with tags' }] : []),
    ...(now === 'agents' ? [{ value: 'agents', title: 'named caches' }] : []),
  ]
}

type TagInputProps = Pick<WaveInputsProps, 'error' | 'owner'> & {
  readonly name: string
  readonly value: WaveRow['ids']
}

function TagInput({ owner, ...field }: TagInputProps) {
  const { rows } = useList<Tag>(mayRead('tag') ? '/tags' : null, { query: { sort: 'name' } })
  const usable = filterOwned(rows, owner, { shared: true })
  return <PickField label="Tags" options={usable} hint="Caches that have all of them" {...field} />
}
