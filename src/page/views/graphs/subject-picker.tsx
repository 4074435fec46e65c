/** Chooses the subject of the graphs by name: all caches, a group, a tag or some caches. Kept in the URL. */
import { useSignal } from '@preact/signals'
import { useMemo } from 'preact/hooks'
import type { PermissionType } from '../../../resources/permission.js'
import type { Reference } from '../../../resources/resource.js'
import { useObject, type LoadedObject } from '../../api/object.js'
import { Choices } from '../../parts/choices.js'
import { ChosenNames, NameField } from '../../parts/name-field.js'
import { mayRead } from '../../session/rights.js'
import { maxCaches, fleet, subjectKinds, type Subject, type SubjectKind } from './subject.js'

interface SubjectPickerProps {
  readonly subject: Subject
  readonly choose: (subject: Subject) => void
}

export function SubjectPicker({ subject, choose }: SubjectPickerProps) {
  const { kind, ids } = subject
  const options = useOptions(kind)
  const rows = options.value ?? []
  const known = useMemo(() => new Map(rows.map((row) => [row.id, row.name])), [rows])
  // A kind without a choice yet starts with its first object.
  const chosenKind = useSignal<SubjectKind | null>(null)
  const shownKind = chosenKind.value ?? kind
  return (
    <>
      <Choices
        label="Of"
        choices={listKinds()}
        value={shownKind}
        onChoose={(word) => {
          const next = subjectKinds.find(({ value }) => value === word)?.value ?? 'fleet'
          if (next === 'fleet') choose(fleet)
          chosenKind.value = next === 'fleet' || next === kind ? null : next
        }}
      />
      {shownKind === kind && kind === 'agents' && (
        <ChosenNames
          label="Shown caches"
          names={ids.map((id) => ({ id, name: known.get(id) ?? `cache ${id}` }))}
          onDrop={(id) => {
            const left = ids.filter((one) => one !== id)
            choose(left.length === 0 ? fleet : { kind, ids: left })
          }}
        />
      )}
      {shownKind !== 'fleet' && (
        <NamedOne
          key={shownKind}
          kind={shownKind}
          chosen={kind === shownKind ? ids : []}
          onChoose={(id) => {
            chosenKind.value = null
            const more = shownKind === 'agents' && kind === 'agents' ? ids : []
            choose({ kind: shownKind, ids: [...new Set([...more, id])].slice(-maxCaches) })
          }}
        />
      )}
    </>
  )
}

const needs: Readonly<Record<SubjectKind, PermissionType>> = {
  fleet: 'agent',
  agents: 'agent',
  vclgroups: 'vclgroup',
  domains: 'domain',
  tags: 'tag',
}

/** Returns the kinds whose graphs the user may see. */
export function listKinds() {
  return subjectKinds.filter(
    ({ value }) => mayRead(needs[value]) && (value !== 'tags' || mayRead('agent')),
  )
}

/** Domains have an fqdn instead of a name. */
interface Listed {
  readonly id: number
  readonly name?: string
  readonly fqdn?: string
}

function useOptions(kind: SubjectKind): LoadedObject<readonly Reference[]> {
  const field = kind === 'domains' ? 'fqdn' : 'name'
  const read = useObject<readonly Listed[]>(kind === 'fleet' ? null : `/${kind}?sort=${field}`)
  const { value } = read
  const named = useMemo(
    () => value?.map(({ id, name, fqdn }) => ({ id, name: name ?? fqdn ?? '' })) ?? null,
    [value],
  )
  return { ...read, value: named }
}

const labels = { agents: 'Cache', vclgroups: 'Group', domains: 'Domain', tags: 'Tag' } as const

interface NamedOneProps {
  readonly kind: keyof typeof labels
  readonly chosen: readonly number[]
  readonly onChoose: (id: number) => void
}

function NamedOne({ kind, chosen, onChoose }: NamedOneProps) {
  const { value, error } = useOptions(kind)
  const isMany = kind === 'agents'
  const placeholder = isMany ? 'Add a cache by name' : `Name of a ${labels[kind].toLowerCase()}`
  return (
    <NameField
      label={isMany ? 'Add a cache' : labels[kind]}
      placeholder={error?.errorMsg ?? placeholder}
      rows={value}
      chosen={chosen}
      current={isMany ? '' : (value?.find(({ id }) => id === chosen[0])?.name ?? '')}
      onChoose={onChoose}
    />
  )
}
