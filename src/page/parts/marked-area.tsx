/**
 * A text area that marks a wrong place: the same text lies behind it, visible only at the mark, and scrolls with it. Typing,
 * keys, history and selection remain those of a native text area.
 */
import { useLayoutEffect, useRef } from 'preact/hooks'
import type { TextRange } from './text-range.js'

interface MarkedAreaProps {
  readonly text: string
  readonly lines: number
  readonly mark: TextRange | null
  readonly onText: (text: string) => void
  /** Further attributes of the element. */
  readonly control: object
  readonly place: { current: HTMLTextAreaElement | null }
}

export function MarkedArea({ text, lines, mark, onText, control, place }: MarkedAreaProps) {
  const behind = useRef<HTMLDivElement>(null)
  const follow = (): void => {
    if (behind.current && place.current) behind.current.scrollTop = place.current.scrollTop
  }
  useLayoutEffect(follow, [text, mark])
  return (
    <div class="marked">
      <div class="field-input marked-behind" ref={behind} aria-hidden="true">
        {mark && (
          <>
            {text.slice(0, mark.from)}
            <mark>{text.slice(mark.from, mark.to) || ' '}</mark>
            {text.slice(mark.to)}
          </>
        )}
      </div>
      <textarea
        {...control}
        class="field-input marked-text"
        ref={place}
        rows={lines}
        spellcheck={false}
        value={text}
        onScroll={follow}
        onInput={({ currentTarget }) => {
          onText(currentTarget.value)
        }}
      />
    </div>
  )
}
