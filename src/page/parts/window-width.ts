/** Whether the window is narrow, where its style sheets alone do not do. */
import { signal } from '@preact/signals'

/** base.css, `from-medium`. */
const narrow = matchMedia('(width < 44rem)')
export const isNarrow = signal(narrow.matches)
narrow.addEventListener('change', () => {
  isNarrow.value = narrow.matches
})
