/** Ctrl+K: search and commands, loaded on first use. */
import { useSignal } from '@preact/signals'
import type { ComponentType, VNode } from 'preact'
import { useEffect } from 'preact/hooks'
import { toast } from '../parts/toasts.js'

interface Commands {
  readonly open: () => void
  /** Null: closed. */
  readonly dialog: VNode | null
}

export function useCommands(): Commands {
  const shown = useSignal<ComponentType<{ readonly onClose: () => void }> | null>(null)
  const open = (): void => {
    // An open dialog takes precedence.
    if (document.querySelector('dialog[open]')) return
    import('../commands/command-dialog.js').then(
      ({ CommandDialog }) => {
        shown.value = CommandDialog
      },
      () => {
        toast('Search could not be loaded. Reload the page.')
      },
    )
  }
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      const isAsked = (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey
      if (!isAsked || event.key !== 'k' || event.defaultPrevented) return
      event.preventDefault()
      open()
    }
    addEventListener('keydown', press)
    return () => {
      removeEventListener('keydown', press)
    }
  }, [])
  const Shown = shown.value
  const close = (): void => {
    shown.value = null
  }
  return { open, dialog: Shown && <Shown onClose={close} /> }
}
