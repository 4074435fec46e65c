/** Creates or changes a deployment: its tags, min and max. */
import { useSignal } from '@preact/signals'
import { call } from '../../api/call.js'
import { useMutation } from '../../api/mutation.js'
import { findCountsProblem, type Deployment } from '../../../resources/deployment.js'
import { refuse, type Method, type Outcome } from '../../api/http.js'
import { useList } from '../../api/list.js'
import type { Tag } from '../../../resources/tag.js'
import type { Reference } from '../../../resources/resource.js'
import { Dialog } from '../../parts/dialog.js'
import { CheckField, TextField } from '../../parts/field.js'
import { Form } from '../../parts/form.js'
import { PickField } from '../../parts/pick-field.js'
import { filterOwned } from '../../parts/filter-owned.js'

export interface DeploymentFormProps {
  /** The deployment when the form was opened, to avoid overwriting changes saved by others since; null: a new one. */
  readonly before: { readonly deployment: Deployment; readonly etag: string | null } | null
  readonly owner: Reference | null
  readonly onSaved: (deployment: Deployment, etag: string | null) => void
  readonly onClose: () => void
}

/** The editable fields. */
export function toDeploymentFields({ name, min, max, tags }: Deployment) {
  return { name, min, max, tags: tags.map(({ id }) => ({ id })) }
}

export function DeploymentForm({ before, owner, onSaved, onClose }: DeploymentFormProps) {
  const was = before?.deployment
  const mutation = useMutation()
  const start = was ?? { name: '', min: 1, max: 1, tags: [] }
  const name = useSignal(start.name)
  const min = useSignal(String(start.min))
  const max = useSignal(String(start.max))
  const tags = useSignal<readonly number[]>(start.tags.map(({ id }) => id))
  const isForced = useSignal(false)
  const { rows } = useList<Tag>('/tags', { query: { sort: 'name' } })
  const options = filterOwned(rows, owner, { shared: true })
  const { error } = mutation
  const isShort = was !== undefined && error?.status === 409 && error.errorMsg.includes('force')

  const save = async (): Promise<Outcome<Deployment>> => {
    const counts = { min: Number(min.value), max: Number(max.value) }
    const problem = findCountsProblem(counts.min, counts.max)
    if (problem !== null) return { ok: false, error: refuse(problem) }
    const body = { ...counts, name: name.value, tags: tags.value.map((id) => ({ id })) }
    const [method, path]: readonly [Method, string] = was
      ? ['PUT', `/deployments/${was.id}${isForced.value ? '?force=true' : ''}`]
      : ['POST', '/deployments']
    return call<Deployment>(method, path, { body, ifMatch: before?.etag ?? null })
  }

  return (
    <Dialog title={was ? 'Edit the deployment' : 'New deployment'} onClose={onClose}>
      <Form
        mutation={mutation}
        verb={was ? 'Save' : 'Create'}
        names={['name', 'min', 'max']}
        onSubmit={() => void mutation.run(save, onSaved)}
        onCancel={onClose}
      >
        <TextField label="Name" name="name" value={name} error={error} autoFocus required />
        <PickField
          label="Tags"
          options={options}
          value={tags}
          hint="Caches that have all of these tags."
        />
        <TextField
          label="Min"
          name="min"
          type="number"
          value={min}
          error={error}
          required
          hint="Nothing switches unless so many caches have loaded the new VCL"
        />
        <TextField
          label="Max"
          name="max"
          type="number"
          value={max}
          error={error}
          required
          hint="At most so many caches are used"
        />
        {isShort && (
          <CheckField
            label="Change it anyway"
            hint="deployed groups then serve from fewer caches than they ask for"
            value={isForced}
          />
        )}
      </Form>
    </Dialog>
  )
}
