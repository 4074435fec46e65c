/** Search and commands by keyboard: every object by name, every view, and global actions. */
import { useSignal } from '@preact/signals'
import { useId, useLayoutEffect, useMemo, useRef } from 'preact/hooks'
import { useLocation } from 'wouter-preact'
import { useAnswer } from '../api/answer.js'
import { Dialog } from '../parts/dialog.js'
import { mayRead, mayWrite } from '../session/rights.js'
import { listViews } from '../shell/find-view.js'
import { findObjects } from './find-objects.js'
import {
  filterCommands,
  listOfObject,
  readName,
  type Command,
  type FoundObject,
} from './list-commands.js'

/** Waits for a pause in typing. */
const delayMs = 200
const none: readonly FoundObject[] = []

export function CommandDialog({ onClose }: { readonly onClose: () => void }) {
  const [, go] = useLocation()
  const text = useSignal('')
  const id = useId()
  const name = readName(text.value)
  const found = useAnswer(name === '' ? null : name, none, (signal) => findObjects(name, signal), {
    delayMs,
  })
  const general = useMemo(listGeneral, [])
  const shown = useMemo(() => {
    const rights = {
      deploys: mayWrite('vclgroup'),
      clears: mayWrite('invalidation'),
      graphs: mayRead('stats'),
    }
    const objects = found.flatMap((one) => listOfObject(one, rights))
    return filterCommands([...objects, ...general], text.value)
  }, [found, text.value])
  /** Key of the command that Enter runs. */
  const chosen = useSignal('')
  const place = Math.max(
    0,
    shown.findIndex(({ key }) => key === chosen.value),
  )

  const run = (command: Command | undefined): void => {
    if (!command) return
    onClose()
    go(command.href)
  }
  const move = (step: number): void => {
    chosen.value = shown[(place + step + shown.length) % Math.max(1, shown.length)]?.key ?? ''
  }
  return (
    <Dialog title="Search and commands" onClose={onClose}>
      <input
        class="field-input"
        type="text"
        role="combobox"
        aria-label="Search and commands"
        aria-expanded={shown.length > 0}
        aria-controls={id}
        aria-autocomplete="list"
        aria-activedescendant={shown.length > 0 ? `${id}-${place}` : undefined}
        placeholder="A name, a view, or what to do: deploy shop"
        spellcheck={false}
        autoComplete="off"
        ref={focusOnce}
        value={text.value}
        onInput={({ currentTarget }) => {
          text.value = currentTarget.value
          chosen.value = ''
        }}
        onKeyDown={(event) => {
          if (event.key === 'Enter') run(shown[place])
          else if (event.key === 'ArrowDown') move(1)
          else if (event.key === 'ArrowUp') move(-1)
          else return
          event.preventDefault()
        }}
      />
      <CommandList
        id={id}
        shown={shown}
        place={place}
        run={run}
        onPoint={(key) => (chosen.value = key)}
      />
    </Dialog>
  )
}

interface CommandListProps {
  /** Id of the list; an option's id appends its position. */
  readonly id: string
  readonly shown: readonly Command[]
  /** Position of the command that Enter runs. */
  readonly place: number
  readonly run: (command: Command) => void
  readonly onPoint: (key: string) => void
}

function CommandList({ id, shown, place, run, onPoint }: CommandListProps) {
  const list = useRef<HTMLUListElement>(null)
  useLayoutEffect(() => {
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest' })
  }, [place, shown])
  return (
    <>
      <ul class="commands" role="listbox" id={id} aria-label="Found" ref={list}>
        {shown.map((command, at) => (
          <li
            key={command.key}
            id={`${id}-${at}`}
            class="command"
            role="option"
            aria-selected={at === place}
            onPointerMove={() => {
              onPoint(command.key)
            }}
            onClick={() => {
              run(command)
            }}
          >
            <span class="command-title">{command.title}</span>
            <span class="quiet">{command.kind}</span>
          </li>
        ))}
      </ul>
      <p class="quiet" role="status">
        {shown.length === 0 && 'Nothing that you may see matches.'}
      </p>
    </>
  )
}

function focusOnce(input: HTMLInputElement | null): void {
  input?.focus()
}

/** Commands that need no object. */
function listGeneral(): readonly Command[] {
  const action = (title: string, href: string): Command => ({
    key: `action ${title}`,
    title,
    kind: 'Action',
    href,
  })
  return [
    ...(mayWrite('invalidation') ? [action('Clear cache', '/invalidations/new')] : []),
    ...listViews()
      .filter(({ path }) => !path.includes(':') && path !== '/invalidations/new')
      .map(({ path, menu }) => ({
        key: path,
        kind: 'View',
        href: path,
        title: menu?.title ?? nameOfPath(path),
      })),
  ]
}

/** `/administration/join-tokens` is "Join tokens". */
function nameOfPath(path: string): string {
  const words = path.split('/').at(-1)?.replaceAll('-', ' ') ?? path
  return words === 'api log' ? 'API log' : words.slice(0, 1).toUpperCase() + words.slice(1)
}
