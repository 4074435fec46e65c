/** Whose graphs are shown: all caches, a group, a tag or some caches, by name, kept in the address. */
import { useSignal } from '@preact/signals'
import { useId, useMemo } from 'preact/hooks'
import type { PermissionType } from '../../../resources/permission.js'
import type { Reference } from '../../../resources/resource.js'
import { useObject, type LoadedObject } from '../../api/object.js'
import { Button } from '../../parts/button.js'
import { Choices } from '../../parts/choices.js'
import { mayRead } from '../../session/rights.js'
import { cachesMost, fleet, subjectKinds, type Subject, type SubjectKind } from './subject.js'

interface SubjectPickerProps {
  readonly subject: Subject
  readonly choose: (subject: Subject) => void
}

export function SubjectPicker({ subject, choose }: SubjectPickerProps) {
  const { kind, ids } = subject
  const options = useOptions(kind)
  const rows = options.value ?? []
  const known = useMemo(() => new Map(rows.map((row) => [row.id, row.name])), [rows])
  // A kind without a choice yet begins with its first one.
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
        <Chosen
          names={ids.map((id) => ({ id, name: known.get(id) ?? `cache ${id}` }))}
          onDrop={(id) => {
            const left = ids.filter((one) => one !== id)
            choose(left.length === 0 ? fleet : { kind, ids: left })
          }}
        />
      )}
      {shownKind !== 'fleet' && (
        <NameField
          key={shownKind}
          kind={shownKind}
          chosen={kind === shownKind ? ids : []}
          onChoose={(id) => {
            chosenKind.value = null
            const more = shownKind === 'agents' && kind === 'agents' ? ids : []
            choose({ kind: shownKind, ids: [...new Set([...more, id])].slice(-cachesMost) })
          }}
        />
      )}
    </>
  )
}

const needs: Readonly<Record<SubjectKind, PermissionType>> = {
  ...{ fleet: 'agent', agents: 'agent', vclgroups: 'vclgroup', tags: 'tag' },
}

/** Those that the person may see graphs of. */
export function listKinds() {
  return subjectKinds.filter(
    ({ value }) => mayRead(needs[value]) && (value !== 'tags' || mayRead('agent')),
  )
}

function useOptions(kind: SubjectKind): LoadedObject<readonly Reference[]> {
  return useObject<readonly Reference[]>(kind === 'fleet' ? null : `/${kind}?sort=name`)
}

/** Browsers show a list of so many well; typing finds the rest. */
const offeredMost = 200

const labels = { agents: 'Cache', vclgroups: 'Group', tags: 'Tag' } as const

interface NameFieldProps {
  readonly kind: keyof typeof labels
  readonly chosen: readonly number[]
  readonly onChoose: (id: number) => void
}

/** Takes a name that is typed as a whole or chosen, and with Enter or on leaving the first one that fits. */
function NameField({ kind, chosen, onChoose }: NameFieldProps) {
  const { value, error } = useOptions(kind)
  const rows = value ?? []
  const current = kind === 'agents' ? '' : (rows.find(({ id }) => id === chosen[0])?.name ?? '')
  /** Null: nobody types. */
  const typed = useSignal<string | null>(null)
  const id = useId()
  const words = typed.value?.toLowerCase() ?? ''
  const fitting = rows.filter(({ name }) => name.toLowerCase().includes(words))
  const take = (row: Reference | undefined): void => {
    typed.value = null
    if (row && !chosen.includes(row.id)) onChoose(row.id)
  }
  const takeFirst = (): void => {
    const isTyped = typed.value !== null && words !== ''
    take(
      isTyped
        ? (fitting.find(({ name }) => name.toLowerCase() === words) ?? fitting[0])
        : undefined,
    )
  }
  return (
    <>
      <input
        class="field-input graphs-subject"
        list={id}
        aria-label={kind === 'agents' ? 'Add a cache' : labels[kind]}
        placeholder={error ? error.errorMsg : placeholderOf(kind)}
        spellcheck={false}
        value={typed.value ?? current}
        onInput={(event) => {
          const { value: now } = event.currentTarget
          typed.value = now
          // An entry of the list was picked; while a name is typed the longer ones may be meant.
          if (!(event instanceof InputEvent) || event.inputType === 'insertReplacementText')
            take(rows.find(({ name }) => name === now))
        }}
        onKeyDown={({ key }) => {
          if (key === 'Enter') takeFirst()
          if (key === 'Escape') typed.value = null
        }}
        onFocus={({ currentTarget }) => {
          currentTarget.select()
        }}
        onBlur={takeFirst}
      />
      <datalist id={id}>
        {fitting.slice(0, offeredMost).map((row) => (
          <option key={row.id} value={row.name} />
        ))}
      </datalist>
    </>
  )
}

function placeholderOf(kind: NameFieldProps['kind']): string {
  return kind === 'agents' ? 'Add a cache by name' : `Name of a ${labels[kind].toLowerCase()}`
}

interface ChosenProps {
  readonly names: readonly Reference[]
  readonly onDrop: (id: number) => void
}

function Chosen({ names, onDrop }: ChosenProps) {
  return (
    <ul class="graphs-chosen" aria-label="Shown caches">
      {names.map(({ id, name }) => (
        <li key={id}>
          {name}
          <Button
            kind="quiet"
            icon="close"
            label={`Remove ${name}`}
            onClick={() => {
              onDrop(id)
            }}
          />
        </li>
      ))}
    </ul>
  )
}
