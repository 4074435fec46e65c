/** Reports a narrow window, for cases that style sheets alone cannot handle. */
import { signal } from '@preact/signals'

/** The same width as `from-medium` in base.css. */
const narrow = matchMedia('(width < 44rem)')
export const isNarrow = signal(narrow.matches)
narrow.addEventListener('change', () => {
  isNarrow.value = narrow.matches
})
