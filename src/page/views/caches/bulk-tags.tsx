/** Adds tags to the selected caches or removes them. */
import { useSignal } from '@preact/signals'
import { Link } from 'wouter-preact'
import type { Agent } from '../../../resources/agent.js'
import type { Reference } from '../../../resources/resource.js'
import type { CallError } from '../../api/http.js'
import { useList } from '../../api/list.js'
import { useMutation } from '../../api/mutation.js'
import { Dialog } from '../../parts/dialog.js'
import { ErrorNote } from '../../parts/error-note.js'
import { Form } from '../../parts/form.js'
import { formatNames } from '../../parts/format-names.js'
import { PickField } from '../../parts/pick-field.js'
import { toast } from '../../parts/toasts.js'
import { changeTags, type TagOutcome } from './change-tags.js'
import type { TagChange } from './plan-tags.js'

interface BulkTagsProps {
  readonly agents: readonly Agent[]
  readonly onClose: () => void
}

export function BulkTags({ agents, onClose }: BulkTagsProps) {
  const { rows, phase, error, reload } = useList<Reference>('/tags', { query: { sort: 'name' } })
  const add = useSignal<readonly number[]>([])
  const remove = useSignal<readonly number[]>([])
  const done = useSignal(0)
  const mutation = useMutation()
  const count = formatCaches(agents.length)
  const assigned = new Map(
    agents.flatMap(({ tags }) => tags.flatMap((tag) => (tag.static ? [] : [[tag.id, tag]]))),
  )
  const save = (): void => {
    const change = { add: add.value, remove: remove.value }
    void mutation.run(
      () => run(agents, () => change, done),
      ({ changed }) => {
        toast(`Tags of ${formatCaches(changed.size)} changed.`, {
          undo: () => void undo(agents, changed),
        })
        onClose()
      },
    )
  }
  return (
    <Dialog title={`Tags of ${count}`} onClose={onClose}>
      <Form mutation={mutation} verb="Save" onCancel={onClose} onSubmit={save}>
        {error && <ErrorNote error={error} onRetry={reload} />}
        {phase === 'ready' && !error && rows.length === 0 && (
          <p>
            No tags yet. Create them under <Link href="/tags">Tags</Link>.
          </p>
        )}
        <PickField label="Add" options={rows} value={add} />
        {assigned.size > 0 && (
          <PickField label="Remove" options={[...assigned.values()]} value={remove} />
        )}
        <p class="quiet" role="status">
          {mutation.isBusy
            ? `${done.value} of ${agents.length} done`
            : 'Tags that a cache sends itself stay. Groups that are deployed by tags may move.'}
        </p>
      </Form>
    </Dialog>
  )
}

/** Failures are combined into one error; successful changes stay. */
async function run(
  agents: readonly Agent[],
  changeOf: (id: number) => TagChange,
  done: { value: number },
) {
  done.value = 0
  const outcome = await changeTags(agents, changeOf, (count) => {
    done.value = count
  })
  const error = describeFailure(outcome)
  return error
    ? ({ ok: false, error } as const)
    : ({ ok: true, value: outcome, etag: null, total: null } as const)
}

function describeFailure({ failed }: TagOutcome): CallError | null {
  const [first] = failed
  if (!first) return null
  const names = formatNames(failed.map(({ name }) => name))
  return { ...first.error, errorMsg: `${names}: ${first.error.errorMsg}` }
}

async function undo(agents: readonly Agent[], changed: TagOutcome['changed']): Promise<void> {
  const { failed } = await changeTags(
    agents.filter(({ id }) => changed.has(id)),
    (id) => {
      const { add = [], remove = [] } = changed.get(id) ?? {}
      return { add: remove, remove: add }
    },
    () => undefined,
  )
  toast(
    failed.length === 0
      ? 'The tags are as they were.'
      : `The tags of ${formatNames(failed.map(({ name }) => name))} could not be changed back.`,
  )
}

export function formatCaches(count: number): string {
  return count === 1 ? '1 cache' : `${count} caches`
}
