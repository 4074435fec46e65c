/** Chooses the target of an invalidation: a group, domains, tags, caches or all, limited to what the user may read. */
import type { Signal } from '@preact/signals'
import { useLayoutEffect, useMemo, useRef } from 'preact/hooks'
import { useList } from '../../api/list.js'
import type { PermissionType } from '../../../resources/permission.js'
import { ErrorNote } from '../../parts/error-note.js'
import { SelectField } from '../../parts/field.js'
import { PickField } from '../../parts/pick-field.js'
import { mayRead } from '../../session/rights.js'
import type { TargetKind } from './compose-invalidation.js'

interface Kind {
  readonly value: TargetKind
  readonly title: string
  readonly needs: PermissionType
  readonly path: string
}

/** All kinds except `all`. */
const kinds: readonly Kind[] = [
  { value: 'vclGroup', title: 'A group', needs: 'vclgroup', path: '/vclgroups' },
  { value: 'domains', title: 'Domains', needs: 'domain', path: '/domains' },
  { value: 'tags', title: 'Caches with tags', needs: 'tag', path: '/tags' },
  { value: 'agents', title: 'Single caches', needs: 'agent', path: '/agents' },
]

function listKinds(): readonly Kind[] {
  return kinds.filter(({ needs }) => mayRead(needs))
}

/** Returns the smallest kind that the user may choose. */
export function firstKind(): TargetKind {
  return listKinds()[0]?.value ?? 'all'
}

interface TargetFieldsProps {
  readonly kind: Signal<TargetKind>
  readonly ids: Signal<readonly number[]>
}

export function TargetFields({ kind, ids }: TargetFieldsProps) {
  const seen = listKinds()
  const chosen = seen.find(({ value }) => value === kind.value)
  const before = useRef(kind.value)
  useLayoutEffect(() => {
    // Ids of one kind are meaningless for another.
    if (before.current !== kind.value) ids.value = []
    before.current = kind.value
  }, [kind.value])
  return (
    <>
      <SelectField
        label="Target"
        value={kind}
        options={[...seen, { value: 'all', title: 'All caches' }]}
      />
      {chosen && <ObjectField key={chosen.value} kind={chosen} ids={ids} />}
    </>
  )
}

interface Named {
  readonly id: number
  readonly name?: string
  /** Domains have an fqdn instead of a name. */
  readonly fqdn?: string
}

function ObjectField({
  kind,
  ids,
}: {
  readonly kind: Kind
  readonly ids: Signal<readonly number[]>
}) {
  const { rows, error, reload } = useList<Named>(kind.path)
  const options = useMemo(
    () =>
      rows
        .map(({ id, name, fqdn }) => ({ id, name: name ?? fqdn ?? '' }))
        .sort((a, b) => a.name.localeCompare(b.name)),
    [rows],
  )
  if (error) return <ErrorNote error={error} onRetry={reload} />
  return (
    <PickField
      label={kind.title}
      options={options}
      value={ids}
      isSingle={kind.value === 'vclGroup'}
      {...(kind.value === 'tags' ? { hint: 'Caches that have all of them.' } : {})}
    />
  )
}
